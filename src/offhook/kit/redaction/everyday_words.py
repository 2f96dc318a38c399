"""Everyday English words that distinguish names from other speech. Data."""

from typing import Final


def _split(words: str) -> frozenset[str]:
    return frozenset(words.split())


# Names that are words too: alone, only their case tells.
EVERYDAY_WORDS: Final = _split(
    "will mark may grace bill rose art hope faith joy april june august summer dawn grant frank jack pat rob sue drew ray "
    "young king brown white green black gray grey baker cook long short rich page hunter chance miles skip dean earl duke "
    "guy gene bob chuck dick don drake ford forest forrest hank harry heath jay josh lance major max nick norm penny pierce "
    "ruby rusty sandy sky star stone sterling sunny tony trip van wade ward ace amber angel autumn belle blue bobby brook "
    "buck bud candy carol case chase cherry christian clay crystal daisy dale dusty eve fern flora gail ginger glen harmony "
    "harper hazel heather holly honey hunt ivy jade jean jewel jimmy lane lee lily love lucky mason melody merry mercy olive "
    "opal pansy patience pearl peg poppy price prince queen rain reed ruth sage scarlet scout tad taylor tiffany trinity "
    "violet victor wells west wood woods rivers fields banks bush carpenter church cross day field fisher fox gold hall hill "
    "house knight lake land love marsh mills moon moss park parker poor powers rice rock roads rush sharp shepherd sherman "
    "sparks steel street strong swan sweet waters weaver wells wise wolf winter winters worth so an do no my to see she he "
    "in on or we you the and"
)

# Words that begin or follow what is said about a name, and are none.
FUNCTION_WORDS: Final = _split(
    "a about after again all already also am an and any anything anyone are aren't around as ask asked asking at available "
    "back bad be because been before being believe better between both but by bye call called calling can can't cannot "
    "cancel checking come coming could correct did different difficult do does doesn't doing don't done down each either "
    "else even ever every everything exactly expecting fine first for from full get getting give go going gonna good "
    "goodbye got great had happy has have haven't having he hello help her here hers hey hi hold him his how however i i'd "
    "i'll i'm i've if in incorrect interested into is isn't it it's its just know last late later least leaving let let's "
    "like listed little looking lost made make making man many maybe me mean mine misspelled missing moment more most much "
    "must my myself name named names need never new next nice no nobody none nope not nothing now of off oh ok okay on once "
    "one only open or other our out over pardon phone please private probably ready really regarding registered returning "
    "right same say saying says see she should shouldn't since sir so some somebody someone something sorry speaking spelled "
    "spelt spell spells still such sure surname take talk talking tell than thank thanks that that's the their them then there "
    "there's these they they're thing think this those though through till to today together tomorrow tonight too trying "
    "two uh uhm um under unfortunately until up upset us use used using very wait waiting wanna want wanted wants was we "
    "we're welcome well were what what's when where whether which while who who's why will wish with woman wondering won't "
    "work working worried would wrong yeah year years yep yes yesterday yet you you'd you'll you're your yours pronounced "
    "written confirmed unknown available n/a billing booking appointment reservation customer patient member account "
    "number email address half glad afraid curious busy unable able aware certain confused excited fairly feeling free "
    "home happening literally looking obviously pretty quite running sick stuck supposed sort kind totally unhappy "
    "urgent usually willing"
)

# Capitalized words that are none, after "I'm" and "this is".
CAPITALIZED_WORDS: Final = _split(
    "monday tuesday wednesday thursday friday saturday sunday january february march may july september october november "
    "december easter christmas english american british irish scottish welsh canadian australian german french spanish "
    "italian mexican chinese japanese korean indian russian polish dutch swedish norwegian danish finnish greek turkish "
    "arab arabic brazilian cuban filipino vietnamese thai european african asian latino latina hispanic catholic muslim "
    "jewish buddhist hindu protestant republican democrat google amazon microsoft apple windows visa mastercard medicare "
    "medicaid covid mr mrs ms dr miss doctor god tv gold silver platinum premium"
)
