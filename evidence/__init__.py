"""What measures or proves more than every test run can afford; README.md says what, and how long each part takes."""
