import { connect } from 'node:net'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { prepareGateway } from '../../story/real-gateway.ts'
import { rootFolder } from '../../tidy/sources.ts'
import { observation, type Check } from '../observations.ts'

export const proof = observation({
  title: 'what the runtime answers to long headers and paths is in the documents',
  async observe(): Promise<Check[]> {
    const gateway = prepareGateway(null)
    try {
      await gateway.start()
      const port = Number(new URL(gateway.baseUrl).port)
      const long = 'a'.repeat(16_384)
      const answers = await Promise.all([
        exchange(port, `GET /v1/models HTTP/1.1\r\nHost: a\r\nX-A: ${long}\r\n\r\n`),
        exchange(port, `GET /v1/${long} HTTP/1.1\r\nHost: a\r\n\r\n`),
      ])
      const isBare = answers.every((text) => /^HTTP\/1\.1 431 [^]*\r\n\r\n$/.test(text))
      const page = readFileSync(join(rootFolder, 'docs/errors.md'), 'utf8')
      const isTold = /\b431\b/.test(page) && /\b16 kB\b/.test(page)
      return [
        {
          name: 'docs/errors.md tells of the 431 without a body from 16 kB on, and so it is',
          held: isBare && isTold,
          seen: `${isTold ? 'told' : 'not told'}; ${isBare ? '431 without a body' : 'another answer'}`,
        },
      ]
    } finally {
      await gateway.remove()
    }
  },
})

function exchange(port: number, sent: string): Promise<string> {
  return new Promise((resolve) => {
    let text = ''
    const socket = connect(port, '127.0.0.1', () => void socket.write(sent))
    socket.on('data', (chunk) => void (text += chunk.toString('latin1')))
    socket.on('close', () => resolve(text))
    socket.on('error', () => resolve(text))
  })
}
