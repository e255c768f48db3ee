"""Made-up names of people: every pair of a common first name and a common family name, as written down here."""

_FIRST = """
    james mary robert patricia john jennifer michael linda david elizabeth william barbara richard susan joseph
    jessica thomas sarah charles karen christopher lisa daniel nancy matthew betty anthony margaret mark sandra donald
    ashley steven kimberly paul emily andrew donna joshua michelle kenneth carol kevin amanda brian dorothy george
    melissa edward deborah ronald stephanie timothy rebecca jason sharon jeffrey laura ryan cynthia jacob kathleen
    gary amy nicholas angela eric shirley jonathan anna stephen brenda larry pamela justin emma scott nicole brandon
    helen benjamin samantha samuel katherine gregory christine frank debra alexander rachel raymond carolyn patrick
    janet jack maria dennis heather jerry diane tyler julie aaron joyce jose victoria adam kelly nathan christina
    henry joan douglas evelyn zachary lauren peter judith kyle olivia
"""
_FAMILY = """
    smith johnson williams brown jones garcia miller davis rodriguez martinez hernandez lopez gonzalez wilson anderson
    thomas taylor moore jackson martin lee perez thompson white harris sanchez clark ramirez lewis robinson walker
    young allen king wright scott torres nguyen hill flores green adams nelson baker hall rivera campbell mitchell
    carter roberts gomez phillips evans turner diaz parker cruz edwards collins reyes stewart morris morales murphy
    cook rogers gutierrez ortiz morgan cooper peterson bailey reed kelly howard ramos kim cox ward richardson watson
    brooks chavez wood james bennett gray mendoza ruiz hughes price alvarez castillo sanders patel myers long ross
    foster jimenez
"""

PEOPLE = [f"{first} {family}" for first in _FIRST.split() for family in _FAMILY.split()]
