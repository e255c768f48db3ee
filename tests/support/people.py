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

# The rules of the vocabulary were chosen with the names above in view; these had no part in any choice.
_OTHER_FIRST = """
    walter ethan jeremy harold keith christian roger noah gerald terry sean austin arthur lawrence jesse dylan bryan
    joe jordan billy bruce albert willie gabriel logan alan juan wayne roy ralph randy eugene vincent russell elijah
    louis bobby philip johnny martha cheryl megan andrea hannah jacqueline teresa ann sara madison frances kathryn
    janice jean abigail alice julia judy sophia grace denise amber doris marilyn danielle beverly isabella theresa
    diana natalie brittany charlotte marie kayla alexis lori
"""
_OTHER_FAMILY = """
    powell jenkins perry russell sullivan bell coleman butler henderson barnes gonzales fisher vasquez simmons romero
    jordan patterson alexander hamilton graham reynolds griffin wallace moreno west cole hayes bryant herrera gibson
    ellis tran medina aguilar stevens murray ford castro marshall owens harrison fernandez mcdonald woods washington
    kennedy wells vargas henry chen freeman webb tucker guzman burns crawford olson simpson porter hunter gordon
    mendez silva shaw snyder mason dixon munoz hunt hicks holmes palmer wagner black robertson boyd rose stone salazar
    fox warren mills meyer rice schmidt garza daniels ferguson nichols stephens soto weaver ryan gardner payne grant
    dunn kelley spencer hawkins
"""

PEOPLE = [f"{first} {family}" for first in _FIRST.split() for family in _FAMILY.split()]
OTHER_PEOPLE = [f"{first} {family}" for first in _OTHER_FIRST.split() for family in _OTHER_FAMILY.split()]
