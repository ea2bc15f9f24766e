/**
 * A language of ten sentences for pocketsphinx. Of all English it hears a synthetic voice mostly wrong; of these it hears nearly every
 * word, so that tests can know what was said, and when.
 */
export const smallLanguage = {
  /** Each word and a way to say it, in the letters of its acoustic model: https://en.wikipedia.org/wiki/ARPABET. */
  dictionary: `
a AH
a(2) EY
again AH G EH N
again(2) AH G EY N
and AH N D
and(2) AE N D
answered AE N S ER D
apples AE P AH L Z
before B IH F AO R
before(2) B IY F AO R
bread B R EH D
breakfast B R EH K F AH S T
brother B R AH DH ER
city S IH T IY
evening IY V N IH NG
every EH V ER IY
every(2) EH V R IY
five F AY V
fresh F R EH SH
garden G AA R D AH N
go G OW
good G UH D
good(2) G IH D
he HH IY
home HH OW M
house HH AW S
in IH N
is IH Z
last L AE S T
last(2) L AE S
late L EY T
letters L EH T ER Z
market M AA R K AH T
market(2) M AA R K IH T
monday M AH N D IY
monday(2) M AH N D EY
morning M AO R N IH NG
moved M UW V D
music M Y UW Z IH K
my M AY
near N IH R
newspaper N UW Z P EY P ER
night N AY T
nobody N OW B AA D IY
nobody(2) N OW B AH D IY
now N AW
office AO F AH S
play P L EY
please P L IY Z
reads R IY D Z
sea S IY
sells S EH L Z
send S EH N D
she SH IY
small S M AO L
telephone T EH L AH F OW N
that DH AE T
that(2) DH AH T
the DH AH
the(2) DH IY
they DH EY
to T UW
to(2) T IH
to(3) T AH
today T AH D EY
today(2) T UW D EY
train T R EY N
very V EH R IY
we W IY
weather W EH DH ER
will W IH L
will(2) W AH L
`.trimStart(),
  sentences: [
    'the weather is good today',
    'please send five letters to the office',
    'we will go home now',
    'that is very good',
    'she sells fresh bread and apples in the market every monday morning',
    'he reads the newspaper before breakfast',
    'the train to the city is late again',
    'nobody answered the telephone last night',
    'my brother moved to a small house near the sea',
    'they play music in the garden every evening',
  ],
} as const

/** The sentences in any order and number, as a JSGF grammar. */
export function smallGrammar(): string {
  const { sentences } = smallLanguage
  return `#JSGF V1.0;\ngrammar small;\npublic <said> = ( ${sentences.join(' | ')} )+;\n`
}
