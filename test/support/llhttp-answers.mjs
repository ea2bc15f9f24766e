// Run by Node: reads a JSON array of answers (Latin-1 text) from standard input and prints what Node's own parser, llhttp,
// makes of each as a JSON array. The connection is closed after every answer.
import { createRequire } from 'node:module'

const { HTTPParser } = process.binding('http_parser')
const { readFileSync } = createRequire(import.meta.url)('node:fs')

/** The first answer that is not interim. */
function parse(text) {
  const parsed = { status: 0, headers: [], body: '', isWhole: false, error: null }
  const parser = new HTTPParser()
  parser.initialize(HTTPParser.RESPONSE, {}, 0, 0)
  let status = 0
  let early = []
  const take = (pairs) => {
    for (let index = 0; index < pairs.length; index += 2)
      parsed.headers.push([pairs[index].toLowerCase(), pairs[index + 1]])
  }
  parser[HTTPParser.kOnHeaders | 0] = (pairs) => {
    if (parsed.status === 0) early = [...early, ...pairs]
  }
  parser[HTTPParser.kOnHeadersComplete | 0] = (...given) => {
    const pairs = given[2]
    status = given[5]
    if (status >= 200 && !parsed.isWhole) {
      parsed.status = status
      take([...early, ...(pairs ?? [])])
    }
    early = []
    return 0
  }
  parser[HTTPParser.kOnBody | 0] = (bytes) => {
    if (!parsed.isWhole) parsed.body += Buffer.from(bytes).toString('latin1')
  }
  parser[HTTPParser.kOnMessageComplete | 0] = () => {
    if (status >= 200) parsed.isWhole = true
  }
  const result = parser.execute(Buffer.from(text, 'latin1'))
  const ending = result instanceof Error ? result : parser.finish()
  if (ending instanceof Error && !parsed.isWhole) parsed.error = ending.code
  return parsed
}

console.log(JSON.stringify(JSON.parse(readFileSync(0, 'utf8')).map(parse)))
