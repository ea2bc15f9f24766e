/**
 * ISO 639-3 and 639-2 codes with their ISO 639-1 code: five letters an entry, three and two. The bibliographic codes
 * follow the terminological ones, then single languages of a group that shares one two-letter code, such as Mandarin
 * for Chinese.
 */
const codes =
  'aaraa abkab aveae afraf akaak amham argan araar asmas avaav aymay azeaz bakba belbe bulbg bihbh bisbi ' +
  'bambm benbn bodbo brebr bosbs catca chece chach cosco crecr cescs chucu chvcv cymcy danda deude divdv ' +
  'dzodz eweee ellel engen epoeo spaes estet euseu fasfa fulff finfi fijfj faofo frafr fryfy glega glagd ' +
  'glggl grngn gujgu glvgv hauha hebhe hinhi hmoho hrvhr hatht hunhu hyehy herhz inaia indid ileie iboig ' +
  'iiiii ipkik idoio islis itait ikuiu jpnja javjv katka konkg kikki kuakj kazkk kalkl khmkm kankn korko ' +
  'kaukr kasks kurku komkv corkw kirky latla ltzlb luglg limli linln laolo litlt lublu lavlv mlgmg mahmh ' +
  'mrimi mkdmk malml monmn marmr msams mltmt myamy nauna nobnb ndend nepne ndong nldnl nnonn norno nblnr ' +
  'navnv nyany ocioc ojioj ormom orior ossos panpa plipi polpl pusps porpt quequ rohrm runrn ronro rusru ' +
  'kinrw sansa srdsc sndsd smese sagsg sinsi slksk slvsl smosm snasn somso sqisq srpsr sswss sotst sunsu ' +
  'swesv swasw tamta telte tgktg thath tirti tuktk tgltl tsntn tonto turtr tsots tattt twitw tahty uigug ' +
  'ukruk urdur uzbuz venve vievi volvo wlnwa wolwo xhoxh yidyi yoryo zhaza zhozh zulzu albsq armhy baqeu ' +
  'burmy chizh czecs dutnl frefr geoka gerde greel iceis macmk maomi mayms perfa rumro slosk tibbo welcy ' +
  'cmnzh arbar pesfa prsfa ekket lvslv zsmms zlmms swhsw filtl oryor npine khkmn uznuz azjaz azbaz pbtps ' +
  'gazom pltmg yddyi kmrku ckbku alssq'

const shortCodes: ReadonlyMap<string, string> = new Map(
  codes.split(' ').map((entry) => [entry.slice(0, 3), entry.slice(3)]),
)

/** Two-letter codes that have been replaced; Whisper still uses one of them. */
const newCodes: ReadonlyMap<string, string> = new Map(
  Object.entries({ in: 'id', iw: 'he', ji: 'yi', jw: 'jv', mo: 'ro' }),
)

/** The two-letter code for a three-letter or a replaced one; null when there is no other. */
export function shortCodeOf(code: string): string | null {
  return shortCodes.get(code) ?? newCodes.get(code) ?? null
}
