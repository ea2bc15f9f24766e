import { shortCodeOf } from './language-codes.ts'

/**
 * English names of the languages that Whisper and similar models report, by ISO code; a slash separates alternatives.
 */
const names =
  'af afrikaans,am amharic,ar arabic,as assamese,az azerbaijani,ba bashkir,be belarusian,bg bulgarian,bn bengali,bo tibetan,br breton,' +
  'bs bosnian,ca catalan/valencian,cs czech,cy welsh,da danish,de german,el greek,en english,es spanish/castilian,et estonian,eu basque,' +
  'fa persian/farsi,fi finnish,fo faroese,fr french,gl galician,gu gujarati,ha hausa,haw hawaiian,he hebrew,hi hindi,hr croatian,' +
  'ht haitian creole/haitian,hu hungarian,hy armenian,id indonesian,is icelandic,it italian,ja japanese,jv javanese,ka georgian,kk kazakh,' +
  'km khmer,kn kannada,ko korean,la latin,lb luxembourgish/letzeburgesch,ln lingala,lo lao,lt lithuanian,lv latvian,mg malagasy,mi maori,' +
  'mk macedonian,ml malayalam,mn mongolian,mr marathi,ms malay,mt maltese,my myanmar/burmese,ne nepali,nl dutch/flemish,nn nynorsk,' +
  'no norwegian,oc occitan,pa punjabi/panjabi,pl polish,ps pashto/pushto,pt portuguese,ro romanian/moldavian/moldovan,ru russian,sa sanskrit,' +
  'sd sindhi,si sinhala/sinhalese,sk slovak,sl slovenian,sn shona,so somali,sq albanian,sr serbian,su sundanese,sv swedish,sw swahili,' +
  'ta tamil,te telugu,tg tajik,th thai,tk turkmen,tl tagalog/filipino,tr turkish,tt tatar,uk ukrainian,ur urdu,uz uzbek,vi vietnamese,' +
  'yi yiddish,yo yoruba,yue cantonese,zh chinese/mandarin'

const codeOfName: ReadonlyMap<string, string> = new Map(
  names.split(',').flatMap((entry) => {
    const space = entry.indexOf(' ')
    const code = entry.slice(0, space)
    return entry
      .slice(space + 1)
      .split('/')
      .map((name) => [name, code] as const)
  }),
)

/**
 * The code for a provider's name of a language: `english`, `en-US`, `en_us`, `eng` and `EN` become `en`. A language
 * without a two-letter code keeps its three-letter code; an unknown name stays unchanged.
 */
export function toLanguageCode(language: string): string {
  const lower = language.trim().toLowerCase()
  const known = codeOfName.get(lower)
  if (known !== undefined) return known
  if (!/^[a-z]{2,3}(?:[-_][a-z0-9]+)*$/.test(lower)) return language
  const [code = lower] = lower.split(/[-_]/)
  return shortCodeOf(code) ?? code
}
