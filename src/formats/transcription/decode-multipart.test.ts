import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { isRemoteAudio, type AudioIntake, type DecodedTranscription } from '../../canonical/audio.ts'
import { GatewayError } from '../../core/errors.ts'
import { decodeTranscriptionMultipart } from './decode-multipart.ts'
import { MultipartReader, parseBoundary } from '../multipart.ts'

const intake: AudioIntake = {
  async recognize({ head }, stated) {
    const format = stated ?? (head[0] === 0x52 ? 'wav' : null)
    return format === null ? { type: 'no_sound', what: null } : { type: 'sound', format }
  },
  createSpool() {
    const chunks: Uint8Array[] = []
    return {
      write: async (chunk) => void chunks.push(chunk.slice()),
      finish: async () => {
        const bytes = Buffer.concat(chunks)
        return {
          sizeBytes: bytes.length,
          head: bytes.subarray(0, 64),
          open: () => new Blob([bytes]).stream(),
          blob: () => new Blob([bytes]),
          dispose: async () => {},
        }
      },
      discard: async () => {},
    }
  },
}

type Field = [name: string, value: string | File]

/** Encoded by the runtime's own writer, so that reader and writer cannot share a mistake. */
async function decode(fields: Field[], sessionId: string | null = null): Promise<DecodedTranscription> {
  const form = new FormData()
  for (const [name, value] of fields) form.append(name, value)
  const request = new Request('http://localhost/', { method: 'POST', body: form })
  return decodeTranscriptionMultipart(request.body ?? new ReadableStream(), {
    contentType: request.headers.get('content-type') ?? '',
    intake,
    headers: { sessionId, accept: null },
  })
}

const file: Field = ['file', new File(['RIFFxxxx'], 'talk.mp3', { type: 'audio/mpeg' })]
const model: Field = ['model', 'a/b']

async function refusal(promise: Promise<unknown>): Promise<GatewayError> {
  const error = await promise.then(
    () => null,
    (thrown: unknown) => thrown,
  )
  if (error instanceof GatewayError) return error
  throw new Error(`expected a refusal, got ${String(error)}`)
}

describe('a multipart transcription', () => {
  test('has every field', async () => {
    const { call } = await decode([
      file,
      model,
      ['language', 'DE'],
      ['temperature', '0.5'],
      ['response_format', 'verbose_json'],
      ['timestamp_granularities[]', 'word'],
      ['timestamp_granularities[]', 'segment'],
      ['diarize', 'true'],
      ['keyterms[]', 'Müller, Hans'],
      ['keyterms[]', 'Headrace'],
      ['provider', '{"zdr":true}'],
      ['trace', '{"trace_id":"t","custom":1}'],
      ['user', 'u'],
      ['session_id', 's'],
      ['prompt', 'hint'],
      ['stream', 'false'],
    ])
    expect(call).toMatchObject({
      model: 'a/b',
      language: 'de',
      temperature: 0.5,
      responseFormat: 'verbose_json',
      granularities: ['word', 'segment'],
      diarize: true,
      keyterms: ['Müller, Hans', 'Headrace'],
      userId: 'u',
      sessionId: 's',
      trace: { trace_id: 't', custom: 1 },
      dropped: ['prompt'],
    })
    expect(call.preferences.requireZdr).toBe(true)
    expect(await new Response(call.audio.open()).text()).toBe('RIFFxxxx')
  })

  test.each([
    [[['timestamp_granularities[]', 'word,segment']]],
    [
      [
        ['timestamp_granularities', 'word'],
        ['timestamp_granularities', 'segment'],
      ],
    ],
    [
      [
        ['timestamp_granularities[0]', 'word'],
        ['timestamp_granularities[1]', 'segment'],
      ],
    ],
  ] as Field[][][])('takes lists as clients write them (%#)', async (fields) => {
    const { call } = await decode([file, model, ['response_format', 'verbose_json'], ...fields])
    expect(call.granularities).toEqual(['word', 'segment'])
  })

  test('takes a list that came as JSON in one part', async () => {
    const json: Field[] = [
      ['response_format', 'verbose_json'],
      ['timestamp_granularities', '["word", "segment"]'],
      ['keyterms', '["Müller, Hans", "Headrace"]'],
    ]
    const { call } = await decode([file, model, ...json])
    expect([call.granularities, call.keyterms]).toEqual([
      ['word', 'segment'],
      ['Müller, Hans', 'Headrace'],
    ])
    // A text that only begins like a JSON list is a term.
    expect((await decode([file, model, ['keyterms[]', '[sic]']])).call.keyterms).toEqual(['[sic]'])
  })

  test('splits key terms that came joined in one part', async () => {
    expect((await decode([file, model, ['keyterms[]', 'alpha,beta gamma']])).call.keyterms).toEqual([
      'alpha',
      'beta gamma',
    ])
  })

  test.each([
    ['talk.mp3', 'application/octet-stream', 'frames', 'mp3'],
    ['talk.MPGA', '', 'frames', 'mp3'],
    ['talk', 'audio/x-wav', 'frames', 'wav'],
    ['talk.bin', 'video/webm;codecs=opus', 'frames', 'webm'],
    ['blob', 'application/octet-stream', 'RIFFxxxx', 'wav'],
  ])('knows the format of %s sent as "%s" with %s', async (name, type, bytes, format) => {
    const { call } = await decode([['file', new File([bytes], name, { type })], model])
    expect(call.audio.format).toBe(format)
    expect(call.audio.fileName).toBe(`audio.${format}`)
  })

  test.each([
    ['file', [model]],
    ['file', [file, model, ['source_url', 'https://example.com/a.mp3']]],
    ['file', [file, file, model]],
    ['file', [['file', new File([''], 'a.mp3')], model]],
    ['file', [['file', new File(['????'], 'a.bin')], model]],
    ['model', [file]],
    ['model', [file, model, model]],
    ['source_url', [['source_url', 'ftp://example.com/a.mp3'], model]],
    ['temperature', [file, model, ['temperature', '']]],
    ['temperature', [file, model, ['temperature', '2']]],
    ['diarize', [file, model, ['diarize', 'yes']]],
    ['diarize', [file, model, ['diarize', 'true']]],
    ['provider', [file, model, ['provider', '{']]],
    ['provider', [file, model, ['provider', '[]']]],
    [
      'provider',
      [file, model, ['provider', `{"options":{"openai":{"x":${'['.repeat(50_000)}${']'.repeat(50_000)}}}}`]],
    ],
    ['trace', [file, model, ['trace', 'x']]],
    ['keyterms[0]', [file, model, ['keyterms[]', '']]],
    ['timestamp_granularities[1]', [file, model, ['timestamp_granularities[]', 'word,line']]],
    ['session_id', [file, model, ['session_id', 'x'.repeat(257)]]],
    ['response_format', [file, model, ['response_format', 'srt']]],
  ] as [string, Field[]][])('is refused by the name of %s (%#)', async (param, fields) => {
    const error = await refusal(decode(fields))
    expect({ status: error.status, param: error.param }).toEqual({ status: 400, param })
  })

  test('may name an address instead of a file', async () => {
    const { call } = await decode([['source_url', 'https://example.com/a.flac'], model])
    expect(isRemoteAudio(call.audio) && call.audio.url).toBe('https://example.com/a.flac')
    expect(call.audio.format).toBe('flac')
  })

  test('that is cut off is refused', async () => {
    const text = '--b\r\nContent-Disposition: form-data; name="model"\r\n\r\na/b\r\n--b'
    const options = {
      contentType: 'multipart/form-data; boundary=b',
      intake,
      headers: { sessionId: null, accept: null },
    }
    expect((await refusal(decodeTranscriptionMultipart(new Blob([text]).stream(), options))).status).toBe(400)
  })

  test.each([
    'multipart/form-data',
    'multipart/form-data; boundary=',
    `multipart/form-data; boundary=${'x'.repeat(71)}`,
  ])('needs a usable boundary: %s', (contentType) => {
    expect(() => parseBoundary(contentType)).toThrow(GatewayError)
  })
})

describe('the multipart reader', () => {
  const part = fc.record({
    name: fc.stringMatching(/^[a-z_]{1,10}$/),
    fileName: fc.option(fc.stringMatching(/^[a-z .;="]{1,12}$/), { nil: null }),
    // Bodies made of a delimiter's characters find every mistake with partial matches.
    body: fc
      .array(fc.constantFrom('\r', '\n', '-', '\r\n--', '\r\n--bou', 'x', '\r\n--boundarx'), {
        maxLength: 20,
      })
      .map((pieces) => pieces.join('')),
  })

  test('gives the same parts wherever the bytes are cut', () => {
    fc.assert(
      fc.property(
        fc.array(part, { maxLength: 4 }),
        fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 20 }),
        (parts, cuts) => {
          const bytes = Buffer.from(writeForm(parts))
          const reader = new MultipartReader('boundary')
          const seen: { name: string; fileName: string | null; body: string }[] = []
          for (let offset = 0, turn = 0; offset < bytes.length; turn++) {
            const end = offset + (cuts[turn % cuts.length] ?? 1)
            for (const event of reader.push(bytes.subarray(offset, end))) {
              const last = seen.at(-1)
              if (event.type === 'begin')
                seen.push({ name: event.head.name, fileName: event.head.fileName, body: '' })
              else if (event.type === 'data' && last) last.body += Buffer.from(event.bytes).toString()
            }
            offset = end
          }
          reader.end()
          expect(seen).toEqual(parts)
        },
      ),
      { numRuns: 300 },
    )
  })

  test('bounds headers and parts', () => {
    const long = `--b\r\nContent-Disposition: form-data; name="${'x'.repeat(20_000)}`
    expect(() => new MultipartReader('b').push(Buffer.from(long))).toThrow(/longer/)
    const many = '--b\r\nContent-Disposition: form-data; name="x"\r\n\r\n\r\n'.repeat(300)
    expect(() => new MultipartReader('b').push(Buffer.from(many))).toThrow(/parts/)
  })

  test('survives any bytes with nothing worse than a refusal', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.constantFrom('--b', '\r\n', '\n', 'Content-Disposition: form-data; name="a"', ':', '--', 'x'),
          { maxLength: 30 },
        ),
        (pieces) => {
          try {
            const reader = new MultipartReader('b')
            for (const piece of pieces) reader.push(Buffer.from(piece))
            reader.end()
          } catch (error) {
            expect(error).toBeInstanceOf(GatewayError)
          }
        },
      ),
      { numRuns: 300 },
    )
  })
})

function writeForm(parts: readonly { name: string; fileName: string | null; body: string }[]): string {
  const blocks = parts.map(({ name, fileName, body }) => {
    const suffix = fileName === null ? '' : `; filename="${fileName.replaceAll('"', '\\"')}"`
    return `--boundary\r\nContent-Disposition: form-data; name="${name}"${suffix}\r\nContent-Type: text/plain\r\n\r\n${body}\r\n`
  })
  return `${blocks.join('')}--boundary--\r\n`
}
