"""Names of local authorities of the United Kingdom that the list of 2021, of England and Wales, does not have."""

UK_NAMES = {
    **{"E06000063": "Cumberland", "E06000064": "Westmorland and Furness", "E06000065": "North Yorkshire"},
    **{"E06000066": "Somerset", "E08000038": "Barnsley", "E08000039": "Sheffield"},
    **{"N09000001": "Antrim and Newtownabbey", "N09000002": "Armagh City, Banbridge and Craigavon"},
    **{"N09000003": "Belfast", "N09000004": "Causeway Coast and Glens", "N09000005": "Derry City and Strabane"},
    **{"N09000006": "Fermanagh and Omagh", "N09000007": "Lisburn and Castlereagh", "N09000008": "Mid and East Antrim"},
    **{"N09000009": "Mid Ulster", "N09000010": "Newry, Mourne and Down", "N09000011": "Ards and North Down"},
    **{"S12000005": "Clackmannanshire", "S12000006": "Dumfries and Galloway", "S12000008": "East Ayrshire"},
    **{"S12000010": "East Lothian", "S12000011": "East Renfrewshire", "S12000013": "Na h-Eileanan Siar"},
    **{"S12000014": "Falkirk", "S12000017": "Highland", "S12000018": "Inverclyde", "S12000019": "Midlothian"},
    **{"S12000020": "Moray", "S12000021": "North Ayrshire", "S12000023": "Orkney Islands"},
    **{"S12000026": "Scottish Borders", "S12000027": "Shetland Islands", "S12000028": "South Ayrshire"},
    **{"S12000029": "South Lanarkshire", "S12000030": "Stirling", "S12000033": "Aberdeen City"},
    **{"S12000034": "Aberdeenshire", "S12000035": "Argyll and Bute", "S12000036": "City of Edinburgh"},
    **{"S12000038": "Renfrewshire", "S12000039": "West Dunbartonshire", "S12000040": "West Lothian"},
    **{"S12000041": "Angus", "S12000042": "Dundee City", "S12000045": "East Dunbartonshire", "S12000047": "Fife"},
    **{"S12000048": "Perth and Kinross", "S12000049": "Glasgow City", "S12000050": "North Lanarkshire"},
}
