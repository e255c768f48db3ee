"""JSON from elsewhere is read strictly: what another program would read differently is refused in one line."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from search_insights.errors import InputError
from search_insights.support.strict_json import parse_json


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b'{"a": NaN}', "not valid JSON: a number that is not finite, NaN"),
        (b"[Infinity]", "not finite, Infinity"),
        (b"[-Infinity]", "not finite"),
        (b"[1e999]", "not finite, 1e999"),
        (b"[" + b"9" * 19 + b"]", "a number of more than 18 digits"),
        (b"[" + b"9" * 10_000 + b"]", "a number of more than 18 digits"),
        (b'{"a": 1, "a": 2}', "the key 'a' twice in one object"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"a":' * 100_000, "nested too deeply"),
        (b'"\xff\xfe"', "not text in UTF-8"),
        (b'["\\ud800"]', "not text in UTF-8"),
        (b'{"\\uD800": 1}', "not text in UTF-8"),
        ('["a"]'.encode("utf-16"), "not text in UTF-8"),
        (b"\xef\xbb\xbf[]", "not valid JSON"),
        (b"", "not valid JSON"),
        (b"[1] [2]", "not valid JSON"),
    ],
)
def test_what_is_not_plain_json_is_refused_in_one_line(content: bytes, words: str) -> None:
    """The error names the file and what is wrong with it, whatever the file holds."""
    with pytest.raises(InputError) as refused:
        parse_json(content, "file.json")
    message = str(refused.value)
    assert message.startswith("file.json: ")
    assert words in message
    assert "\n" not in message


@pytest.mark.parametrize("text", ['{"a": [1, -2.5, true, null, "é 東"]}', '"\\ud83d\\ude00"', "999999999999999999"])
def test_plain_json_is_read(text: str) -> None:
    """Ordinary values come back as they are, also characters that JSON writes in two halves."""
    assert parse_json(text.encode(), "file.json") is not None


@given(st.binary(max_size=40) | st.text('[]{}":,.-+eE0123456789 NaInfty\\u', max_size=40).map(str.encode))
def test_any_bytes_are_read_or_refused(content: bytes) -> None:
    """Nothing but the program's own error comes out, for any content."""
    with suppress(InputError):
        parse_json(content, "file.json")
