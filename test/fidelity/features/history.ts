import { models } from '../lab.ts'
import { approximated, carried, dropped, filesUrl, refused, type AskedRow, type Json } from '../table.ts'

// What was said before, and the media in it. Expectations follow the formats' documents and ADR 8.

const png = 'iVBORw0KGgo='
const pdf = 'JVBERi0xLjQ='
const pngAddress = 'https://example.com/a.png'
/** On this machine and without https, which no provider of the table fetches. */
const pdfAddress = `${filesUrl}/a.pdf`
const fetched = { note: 'as bytes, which the gateway fetches' }
const pdfUrl = `data:application/pdf;base64,${pdf}`

const user = (content: unknown): Json => ({ role: 'user', content })
const assistant = (content: unknown): Json => ({ role: 'assistant', content })
const texts = (...values: string[]): Json[] => values.map((text) => ({ type: 'text', text }))

export const historyRows: readonly AskedRow[] = [
  {
    kind: 'asked',
    id: 'H1',
    title: 'Several instructions before the conversation',
    cells: {
      chat: {
        ask: {
          messages: [
            { role: 'system', content: 'Be brief.' },
            { role: 'developer', content: 'Be kind.' },
            user('Hi.'),
          ],
        },
        toChat: carried({
          messages: [
            { role: 'system', content: 'Be brief.' },
            { role: 'developer', content: 'Be kind.' },
            user('Hi.'),
          ],
        }),
        toMessages: carried({ system: texts('Be brief.', 'Be kind.'), messages: [user(texts('Hi.'))] }),
      },
      responses: {
        ask: { instructions: 'Be brief.', input: [{ role: 'developer', content: 'Be kind.' }, user('Hi.')] },
        toChat: carried({
          messages: [
            { role: 'system', content: 'Be brief.' },
            { role: 'system', content: 'Be kind.' },
            user('Hi.'),
          ],
        }),
        toMessages: carried({ system: texts('Be brief.', 'Be kind.'), messages: [user(texts('Hi.'))] }),
      },
      messages: {
        ask: { system: texts('Be brief.', 'Be kind.'), messages: [user('Hi.')] },
        toChat: carried({ messages: [{ role: 'system', content: 'Be brief.\n\nBe kind.' }, user('Hi.')] }),
        toMessages: carried({ system: texts('Be brief.', 'Be kind.'), messages: [user('Hi.')] }),
      },
    },
  },
  {
    kind: 'asked',
    id: 'H2',
    title: 'Instructions in the middle, for a model that takes them there',
    models: { messages: models.messagesNewest },
    cells: {
      chat: {
        ask: {
          messages: [user('Hi.'), assistant('Hello.'), { role: 'system', content: 'Be kind.' }, user('So?')],
        },
        toChat: carried({
          messages: [user('Hi.'), assistant('Hello.'), { role: 'system', content: 'Be kind.' }, user('So?')],
        }),
        toMessages: carried({
          messages: [
            user(texts('Hi.')),
            assistant(texts('Hello.')),
            { role: 'system', content: texts('Be kind.') },
            user(texts('So?')),
          ],
        }),
      },
      responses: {
        ask: {
          input: [user('Hi.'), assistant('Hello.'), { role: 'developer', content: 'Be kind.' }, user('So?')],
        },
        toChat: carried({
          messages: [user('Hi.'), assistant('Hello.'), { role: 'system', content: 'Be kind.' }, user('So?')],
        }),
        toMessages: carried({
          messages: [
            user(texts('Hi.')),
            assistant(texts('Hello.')),
            { role: 'system', content: texts('Be kind.') },
            user(texts('So?')),
          ],
        }),
      },
      messages: {
        ask: {
          messages: [user('Hi.'), assistant('Hello.'), { role: 'system', content: 'Be kind.' }, user('So?')],
        },
        toChat: carried({
          messages: [user('Hi.'), assistant('Hello.'), { role: 'system', content: 'Be kind.' }, user('So?')],
        }),
        toMessages: carried({
          messages: [user('Hi.'), assistant('Hello.'), { role: 'system', content: 'Be kind.' }, user('So?')],
        }),
      },
    },
  },
  {
    kind: 'asked',
    id: 'H3',
    title: 'Instructions in the middle, for a model that takes them only before',
    cells: {
      chat: {
        ask: {
          messages: [user('Hi.'), assistant('Hello.'), { role: 'system', content: 'Be kind.' }, user('So?')],
        },
        toChat: carried({
          messages: [user('Hi.'), assistant('Hello.'), { role: 'system', content: 'Be kind.' }, user('So?')],
        }),
        toMessages: approximated('as words of the user', ['messages[].role'], {
          messages: [user(texts('Hi.')), assistant(texts('Hello.')), user(texts('Be kind.', 'So?'))],
        }),
      },
      responses: {
        ask: {
          input: [user('Hi.'), assistant('Hello.'), { role: 'system', content: 'Be kind.' }, user('So?')],
        },
        toChat: carried({
          messages: [user('Hi.'), assistant('Hello.'), { role: 'system', content: 'Be kind.' }, user('So?')],
        }),
        toMessages: approximated('as words of the user', ['input[].role'], {
          messages: [user(texts('Hi.')), assistant(texts('Hello.')), user(texts('Be kind.', 'So?'))],
        }),
      },
      messages: {
        ask: {
          messages: [user('Hi.'), assistant('Hello.'), { role: 'system', content: 'Be kind.' }, user('So?')],
        },
        toChat: carried({
          messages: [user('Hi.'), assistant('Hello.'), { role: 'system', content: 'Be kind.' }, user('So?')],
        }),
        toMessages: carried(
          {
            messages: [
              user('Hi.'),
              assistant('Hello.'),
              { role: 'system', content: 'Be kind.' },
              user('So?'),
            ],
          },
          { note: 'the provider says what it takes' },
        ),
      },
    },
  },
  {
    kind: 'asked',
    id: 'H4',
    title: 'Many turns, several of one side in a row',
    cells: {
      chat: {
        ask: { messages: [user('One.'), user('Two.'), assistant('Yes.'), user('Three.')] },
        toChat: carried({ messages: [user('One.'), user('Two.'), assistant('Yes.'), user('Three.')] }),
        toMessages: carried({
          messages: [user(texts('One.', 'Two.')), assistant(texts('Yes.')), user(texts('Three.'))],
        }),
      },
      responses: {
        ask: {
          input: [
            user([{ type: 'input_text', text: 'One.' }]),
            user('Two.'),
            {
              type: 'message',
              id: 'msg_1',
              status: 'completed',
              role: 'assistant',
              content: [{ type: 'output_text', text: 'Yes.', annotations: [] }],
            },
            user('Three.'),
          ],
        },
        toChat: carried({ messages: [user('One.'), user('Two.'), assistant('Yes.'), user('Three.')] }),
        toMessages: carried({
          messages: [user(texts('One.', 'Two.')), assistant(texts('Yes.')), user(texts('Three.'))],
        }),
      },
      messages: {
        ask: { messages: [user('One.'), user(texts('Two.')), assistant(texts('Yes.')), user('Three.')] },
        toChat: carried({ messages: [user('One.'), user('Two.'), assistant('Yes.'), user('Three.')] }),
        toMessages: carried({
          messages: [user('One.'), user(texts('Two.')), assistant(texts('Yes.')), user('Three.')],
        }),
      },
    },
  },
  {
    kind: 'asked',
    id: 'H5',
    title: 'Name of who speaks',
    cells: {
      chat: {
        ask: { messages: [{ role: 'user', name: 'ada', content: 'Hi.' }] },
        toChat: carried({ messages: [{ role: 'user', name: 'ada', content: 'Hi.' }] }),
        toMessages: dropped(['messages[].name'], ['messages.0.name']),
      },
      responses: { cannotAsk: 'messages have no names' },
      messages: { cannotAsk: 'messages have no names' },
    },
  },
  {
    kind: 'asked',
    id: 'H6',
    title: 'Image by address',
    cells: {
      chat: {
        ask: { messages: [user([{ type: 'image_url', image_url: { url: pngAddress } }])] },
        toChat: carried({ messages: [user([{ type: 'image_url', image_url: { url: pngAddress } }])] }),
        toMessages: carried({
          messages: [user([{ type: 'image', source: { type: 'url', url: pngAddress } }])],
        }),
      },
      responses: {
        ask: { input: [user([{ type: 'input_image', image_url: pngAddress }])] },
        toChat: carried({ messages: [user([{ type: 'image_url', image_url: { url: pngAddress } }])] }),
        toMessages: carried({
          messages: [user([{ type: 'image', source: { type: 'url', url: pngAddress } }])],
        }),
      },
      messages: {
        ask: { messages: [user([{ type: 'image', source: { type: 'url', url: pngAddress } }])] },
        toChat: carried({ messages: [user([{ type: 'image_url', image_url: { url: pngAddress } }])] }),
        toMessages: carried({
          messages: [user([{ type: 'image', source: { type: 'url', url: pngAddress } }])],
        }),
      },
    },
  },
  {
    kind: 'asked',
    id: 'H7',
    title: 'Image as base64',
    cells: {
      chat: {
        ask: {
          messages: [user([{ type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } }])],
        },
        toChat: carried({
          messages: [user([{ type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } }])],
        }),
        toMessages: carried({
          messages: [
            user([{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } }]),
          ],
        }),
      },
      responses: {
        ask: { input: [user([{ type: 'input_image', image_url: `data:image/png;base64,${png}` }])] },
        toChat: carried({
          messages: [user([{ type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } }])],
        }),
        toMessages: carried({
          messages: [
            user([{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } }]),
          ],
        }),
      },
      messages: {
        ask: {
          messages: [
            user([{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } }]),
          ],
        },
        toChat: carried({
          messages: [user([{ type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } }])],
        }),
        toMessages: carried({
          messages: [
            user([{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } }]),
          ],
        }),
      },
    },
  },
  {
    kind: 'asked',
    id: 'H8',
    title: 'Detail of an image',
    cells: {
      chat: {
        ask: { messages: [user([{ type: 'image_url', image_url: { url: pngAddress, detail: 'low' } }])] },
        toChat: carried({
          messages: [user([{ type: 'image_url', image_url: { url: pngAddress, detail: 'low' } }])],
        }),
        toMessages: dropped(['messages[].content[].image_url.detail'], ['messages.0.content.0.detail']),
      },
      responses: {
        ask: { input: [user([{ type: 'input_image', image_url: pngAddress, detail: 'low' }])] },
        toChat: carried({
          messages: [user([{ type: 'image_url', image_url: { url: pngAddress, detail: 'low' } }])],
        }),
        toMessages: dropped(['input[].content[].detail'], ['messages.0.content.0.detail']),
      },
      messages: { cannotAsk: 'images have no detail' },
    },
  },
  {
    kind: 'asked',
    id: 'H9',
    title: 'Image by an id that a provider gave',
    cells: {
      chat: { cannotAsk: 'images are addresses or bytes' },
      responses: {
        ask: { input: [user([{ type: 'input_image', file_id: 'file-1' }])] },
        toChat: refused('input[0]'),
        toMessages: refused('input[0]'),
      },
      messages: {
        ask: { messages: [user([{ type: 'image', source: { type: 'file', file_id: 'file_1' } }])] },
        toChat: refused('messages[0]'),
        toMessages: carried({
          messages: [user([{ type: 'image', source: { type: 'file', file_id: 'file_1' } }])],
        }),
      },
    },
  },
  {
    kind: 'asked',
    id: 'H10',
    title: 'PDF as base64',
    cells: {
      chat: {
        ask: {
          messages: [
            user([
              { type: 'file', file: { filename: 'a.pdf', file_data: `data:application/pdf;base64,${pdf}` } },
            ]),
          ],
        },
        toChat: carried({
          messages: [
            user([
              { type: 'file', file: { filename: 'a.pdf', file_data: `data:application/pdf;base64,${pdf}` } },
            ]),
          ],
        }),
        toMessages: carried({
          messages: [
            user([
              {
                type: 'document',
                title: 'a.pdf',
                source: { type: 'base64', media_type: 'application/pdf', data: pdf },
              },
            ]),
          ],
        }),
      },
      responses: {
        ask: {
          input: [
            user([
              { type: 'input_file', filename: 'a.pdf', file_data: `data:application/pdf;base64,${pdf}` },
            ]),
          ],
        },
        toChat: carried({
          messages: [
            user([
              { type: 'file', file: { filename: 'a.pdf', file_data: `data:application/pdf;base64,${pdf}` } },
            ]),
          ],
        }),
        toMessages: carried({
          messages: [
            user([
              {
                type: 'document',
                title: 'a.pdf',
                source: { type: 'base64', media_type: 'application/pdf', data: pdf },
              },
            ]),
          ],
        }),
      },
      messages: {
        ask: {
          messages: [
            user([
              {
                type: 'document',
                title: 'a.pdf',
                source: { type: 'base64', media_type: 'application/pdf', data: pdf },
              },
            ]),
          ],
        },
        toChat: carried({
          messages: [
            user([
              { type: 'file', file: { filename: 'a.pdf', file_data: `data:application/pdf;base64,${pdf}` } },
            ]),
          ],
        }),
        toMessages: carried({
          messages: [
            user([
              {
                type: 'document',
                title: 'a.pdf',
                source: { type: 'base64', media_type: 'application/pdf', data: pdf },
              },
            ]),
          ],
        }),
      },
    },
  },
  {
    kind: 'asked',
    id: 'H11',
    title: 'PDF by an address that the provider does not fetch',
    cells: {
      chat: {
        ask: { messages: [user([{ type: 'file', file: { file_data: pdfAddress } }])] },
        toChat: carried({ messages: [user([{ type: 'file', file: { file_data: pdfUrl } }])] }, fetched),
        toMessages: carried(
          {
            messages: [
              user([
                { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: pdf } },
              ]),
            ],
          },
          fetched,
        ),
      },
      responses: {
        ask: { input: [user([{ type: 'input_file', file_url: pdfAddress }])] },
        toChat: carried({ messages: [user([{ type: 'file', file: { file_data: pdfUrl } }])] }, fetched),
        toMessages: carried(
          {
            messages: [
              user([
                { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: pdf } },
              ]),
            ],
          },
          fetched,
        ),
      },
      messages: {
        ask: { messages: [user([{ type: 'document', source: { type: 'url', url: pdfAddress } }])] },
        toChat: carried({ messages: [user([{ type: 'file', file: { file_data: pdfUrl } }])] }, fetched),
        toMessages: carried(
          {
            messages: [
              user([
                { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: pdf } },
              ]),
            ],
          },
          fetched,
        ),
      },
    },
  },
  {
    kind: 'asked',
    id: 'H12',
    title: 'File by an id that a provider gave',
    cells: {
      chat: {
        ask: { messages: [user([{ type: 'file', file: { file_id: 'file-1' } }])] },
        toChat: carried({ messages: [user([{ type: 'file', file: { file_id: 'file-1' } }])] }),
        toMessages: refused('messages[0]'),
      },
      responses: {
        ask: { input: [user([{ type: 'input_file', file_id: 'file-1' }])] },
        toChat: refused('input[0]'),
        toMessages: refused('input[0]'),
      },
      messages: {
        ask: { messages: [user([{ type: 'document', source: { type: 'file', file_id: 'file_1' } }])] },
        toChat: refused('messages[0]'),
        toMessages: carried({
          messages: [user([{ type: 'document', source: { type: 'file', file_id: 'file_1' } }])],
        }),
      },
    },
  },
  {
    kind: 'asked',
    id: 'H13',
    title: 'Document of plain text',
    cells: {
      chat: {
        ask: {
          messages: [
            user([
              { type: 'file', file: { filename: 'a.txt', file_data: 'data:text/plain;base64,SGkgdGhlcmUu' } },
            ]),
          ],
        },
        toChat: carried({
          messages: [
            user([
              { type: 'file', file: { filename: 'a.txt', file_data: 'data:text/plain;base64,SGkgdGhlcmUu' } },
            ]),
          ],
        }),
        toMessages: carried({
          messages: [
            user([
              {
                type: 'document',
                title: 'a.txt',
                source: { type: 'text', media_type: 'text/plain', data: 'Hi there.' },
              },
            ]),
          ],
        }),
      },
      responses: {
        ask: {
          input: [
            user([
              { type: 'input_file', filename: 'a.txt', file_data: 'data:text/plain;base64,SGkgdGhlcmUu' },
            ]),
          ],
        },
        toChat: carried(
          { messages: [user([{ type: 'text', text: 'a.txt\nHi there.' }])] },
          { note: 'as a text' },
        ),
        toMessages: carried({
          messages: [
            user([
              {
                type: 'document',
                title: 'a.txt',
                source: { type: 'text', media_type: 'text/plain', data: 'Hi there.' },
              },
            ]),
          ],
        }),
      },
      messages: {
        ask: {
          messages: [
            user([
              {
                type: 'document',
                title: 'a.txt',
                context: 'A note.',
                source: { type: 'text', media_type: 'text/plain', data: 'Hi there.' },
              },
            ]),
          ],
        },
        toChat: carried(
          { messages: [user([{ type: 'text', text: 'a.txt\nA note.\nHi there.' }])] },
          { note: 'as a text' },
        ),
        toMessages: carried({
          messages: [
            user([{ type: 'document', title: 'a.txt', context: 'A note.', source: { data: 'Hi there.' } }]),
          ],
        }),
      },
    },
  },
  {
    kind: 'asked',
    id: 'H14',
    title: 'Document that the answer is to cite',
    cells: {
      chat: { cannotAsk: 'files have no citations' },
      responses: { cannotAsk: 'files have no citations' },
      messages: {
        ask: {
          messages: [
            user([
              {
                type: 'document',
                source: { type: 'text', media_type: 'text/plain', data: 'Hi there.' },
                citations: { enabled: true },
              },
            ]),
          ],
        },
        toChat: refused('messages[0]'),
        toMessages: carried({ messages: [user([{ type: 'document', citations: { enabled: true } }])] }),
      },
    },
  },
  {
    kind: 'asked',
    id: 'H15',
    title: 'Sound to listen to',
    cells: {
      chat: {
        ask: {
          messages: [user([{ type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } }])],
        },
        toChat: carried({
          messages: [user([{ type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } }])],
        }),
        toMessages: refused('messages[0]'),
      },
      responses: { cannotAsk: 'an input has no sound' },
      messages: { cannotAsk: 'messages have no sound' },
    },
  },
  {
    kind: 'asked',
    id: 'H16',
    title: 'A kind of part that only its own format has',
    models: { chat: models.chatThatPasses },
    cells: {
      chat: {
        ask: { messages: [user([{ type: 'video_url', video_url: { url: 'https://example.com/a.mp4' } }])] },
        toChat: carried({
          messages: [user([{ type: 'video_url', video_url: { url: 'https://example.com/a.mp4' } }])],
        }),
        toMessages: refused('messages[0]'),
      },
      responses: {
        ask: { input: [user('Hi.'), { type: 'web_search_call', id: 'ws_1', status: 'completed' }] },
        toChat: refused('input[1]'),
        toMessages: refused('input[1]'),
      },
      messages: {
        ask: {
          messages: [
            user([{ type: 'search_result', source: 'https://example.com', title: 'A', content: texts('B') }]),
          ],
        },
        toChat: refused('messages[0]'),
        toMessages: carried({ messages: [user([{ type: 'search_result', title: 'A' }])] }),
      },
    },
  },
  {
    kind: 'asked',
    id: 'H17',
    title: 'A refusal that was said before',
    cells: {
      chat: {
        ask: { messages: [user('Hi.'), { role: 'assistant', content: null, refusal: 'No.' }, user('Why?')] },
        toChat: carried({
          messages: [user('Hi.'), { role: 'assistant', refusal: 'No.' }, user('Why?')],
        }),
        toMessages: carried({ messages: [user(texts('Hi.')), assistant(texts('No.')), user(texts('Why?'))] }),
      },
      responses: {
        ask: { input: [user('Hi.'), assistant([{ type: 'refusal', refusal: 'No.' }]), user('Why?')] },
        toChat: carried({ messages: [user('Hi.'), { role: 'assistant', refusal: 'No.' }, user('Why?')] }),
        toMessages: carried({ messages: [user(texts('Hi.')), assistant(texts('No.')), user(texts('Why?'))] }),
      },
      messages: { cannotAsk: 'a refusal is how a message ends, not a part of one' },
    },
  },
  {
    kind: 'asked',
    id: 'H18',
    title: 'Citations in what was said before',
    cells: {
      chat: {
        ask: {
          messages: [
            user('Hi.'),
            {
              ...assistant('Yes.'),
              annotations: [{ type: 'url_citation', url_citation: { url: pngAddress } }],
            },
            user('Why?'),
          ],
        },
        toChat: carried({ messages: [{}, { annotations: [{ type: 'url_citation' }] }, {}] }),
        toMessages: dropped(['messages[].annotations'], ['messages.1.content.0.citations']),
      },
      responses: {
        ask: {
          input: [
            user('Hi.'),
            assistant([
              { type: 'output_text', text: 'Yes.', annotations: [{ type: 'url_citation', url: pngAddress }] },
            ]),
            user('Why?'),
          ],
        },
        toChat: dropped(['input[].content[].annotations'], ['messages.1.annotations']),
        toMessages: dropped(['input[].content[].annotations'], ['messages.1.content.0.citations']),
      },
      messages: {
        ask: {
          messages: [
            user('Hi.'),
            assistant([
              { type: 'text', text: 'Yes.', citations: [{ type: 'char_location', cited_text: 'Y' }] },
            ]),
            user('Why?'),
          ],
        },
        toChat: dropped(['messages[].content[].citations'], ['messages.1.annotations']),
        toMessages: carried({
          messages: [{}, { content: [{ citations: [{ type: 'char_location' }] }] }, {}],
        }),
      },
    },
  },
  {
    kind: 'asked',
    id: 'H19',
    title: 'Members inside messages that nobody knows',
    cells: {
      chat: {
        ask: {
          messages: [
            { ...user([{ type: 'text', text: 'Hi.', my_tag: 1 }]) },
            { ...assistant('Yes.'), provider_specific_fields: { a: 1 } },
            user('Why?'),
          ],
        },
        toChat: dropped(
          ['messages[].content[].my_tag', 'messages[].provider_specific_fields'],
          ['messages.0.content.0.my_tag', 'messages.1.provider_specific_fields'],
        ),
        toMessages: dropped(
          ['messages[].content[].my_tag', 'messages[].provider_specific_fields'],
          ['messages.0.content.0.my_tag', 'messages.1.provider_specific_fields'],
        ),
      },
      responses: {
        ask: { input: [{ ...user([{ type: 'input_text', text: 'Hi.', my_tag: 1 }]), my_mark: 1 }] },
        toChat: dropped(['input[].content[].my_tag', 'input[].my_mark'], ['messages.0.my_mark']),
        toMessages: dropped(['input[].content[].my_tag', 'input[].my_mark'], ['messages.0.my_mark']),
      },
      messages: {
        ask: { messages: [{ ...user([{ type: 'text', text: 'Hi.', my_tag: 1 }]), my_mark: 1 }] },
        toChat: dropped(['messages[].content[].my_tag', 'messages[].my_mark'], ['messages.0.my_mark']),
        toMessages: carried(
          { messages: [{ my_mark: 1, content: [{ my_tag: 1 }] }] },
          { note: 'the provider says what it takes' },
        ),
      },
    },
  },
  {
    kind: 'asked',
    id: 'H20',
    title: 'Members inside messages that nobody knows, for a server that takes any',
    models: { chat: models.chatThatPasses },
    cells: {
      chat: {
        ask: { messages: [{ ...user([{ type: 'text', text: 'Hi.', my_tag: 1 }]), my_mark: 1 }] },
        toChat: carried({ messages: [{ my_mark: 1, content: [{ my_tag: 1 }] }] }),
        toMessages: dropped(['messages[].content[].my_tag', 'messages[].my_mark'], ['messages.0.my_mark']),
      },
      responses: {
        ask: { input: [{ ...user('Hi.'), my_mark: 1 }] },
        toChat: dropped(['input[].my_mark'], ['messages.0.my_mark']),
        toMessages: dropped(['input[].my_mark'], ['messages.0.my_mark']),
      },
      messages: {
        ask: { messages: [{ ...user('Hi.'), my_mark: 1 }] },
        toChat: dropped(['messages[].my_mark'], ['messages.0.my_mark']),
        toMessages: carried({ messages: [{ my_mark: 1 }] }, { note: 'the provider says what it takes' }),
      },
    },
  },
  {
    kind: 'asked',
    id: 'H21',
    title: 'Marks of a prompt cache',
    cells: {
      chat: {
        ask: {
          messages: [user([{ type: 'text', text: 'Hi.', cache_control: { type: 'ephemeral', ttl: '1h' } }])],
        },
        toChat: dropped(['messages[].content[].cache_control'], ['messages.0.content.0.cache_control']),
        toMessages: carried({
          messages: [user([{ type: 'text', text: 'Hi.', cache_control: { type: 'ephemeral', ttl: '1h' } }])],
        }),
      },
      responses: { cannotAsk: 'parts have no marks' },
      messages: {
        ask: {
          system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
          tools: [
            { name: 'a', input_schema: { type: 'object' }, cache_control: { type: 'ephemeral', ttl: '5m' } },
          ],
          messages: [user([{ type: 'text', text: 'Hi.', cache_control: { type: 'ephemeral', ttl: '1h' } }])],
        },
        toChat: dropped(
          ['messages[].content[].cache_control', 'system[].cache_control', 'tools[].cache_control'],
          [
            'messages.0.content.0.cache_control',
            'messages.1.content.0.cache_control',
            'tools.0.cache_control',
          ],
        ),
        toMessages: carried({
          system: [{ text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
          tools: [{ cache_control: { type: 'ephemeral', ttl: '5m' } }],
          messages: [user([{ text: 'Hi.', cache_control: { type: 'ephemeral', ttl: '1h' } }])],
        }),
      },
    },
  },
  {
    kind: 'asked',
    id: 'H22',
    title:
      'Marks of a prompt cache, for a server of one’s own that takes them as the operator says (`cache_marks`)',
    models: { chat: models.chatThatMarks },
    cells: {
      chat: {
        ask: { messages: [user([{ type: 'text', text: 'Hi.', cache_control: { type: 'ephemeral' } }])] },
        toChat: carried({
          messages: [user([{ type: 'text', text: 'Hi.', cache_control: { type: 'ephemeral' } }])],
        }),
        toMessages: carried({
          messages: [user([{ type: 'text', text: 'Hi.', cache_control: { type: 'ephemeral' } }])],
        }),
      },
      responses: { cannotAsk: 'parts have no marks' },
      messages: {
        ask: {
          messages: [user([{ type: 'text', text: 'Hi.', cache_control: { type: 'ephemeral', ttl: '1h' } }])],
        },
        toChat: carried({
          messages: [user([{ type: 'text', text: 'Hi.', cache_control: { type: 'ephemeral', ttl: '1h' } }])],
        }),
        toMessages: carried({
          messages: [user([{ type: 'text', text: 'Hi.', cache_control: { type: 'ephemeral', ttl: '1h' } }])],
        }),
      },
    },
  },
  {
    kind: 'asked',
    id: 'H23',
    title: 'Marks of a prompt cache, for a server of one’s own of which nothing is said',
    models: { chat: models.chatThatPasses },
    cells: {
      chat: {
        ask: {
          messages: [user([{ type: 'text', text: 'Hi.', cache_control: { type: 'ephemeral' } }])],
          cache_control: { type: 'ephemeral' },
        },
        toChat: carried(
          {
            messages: [user([{ type: 'text', text: 'Hi.', cache_control: { type: 'ephemeral' } }])],
            cache_control: { type: 'ephemeral' },
          },
          { note: 'the server says what it takes' },
        ),
        toMessages: carried({
          messages: [user([{ type: 'text', text: 'Hi.', cache_control: { type: 'ephemeral' } }])],
          cache_control: { type: 'ephemeral' },
        }),
      },
      responses: { cannotAsk: 'parts have no marks' },
      messages: {
        ask: {
          system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
          tools: [
            { name: 'a', input_schema: { type: 'object' }, cache_control: { type: 'ephemeral', ttl: '5m' } },
          ],
          messages: [user([{ type: 'text', text: 'Hi.', cache_control: { type: 'ephemeral', ttl: '1h' } }])],
          cache_control: { type: 'ephemeral' },
        },
        toChat: dropped(
          [
            'cache_control',
            'messages[].content[].cache_control',
            'system[].cache_control',
            'tools[].cache_control',
          ],
          [
            'cache_control',
            'messages.0.content.0.cache_control',
            'messages.1.content.0.cache_control',
            'tools.0.cache_control',
          ],
        ),
        toMessages: carried({
          system: [{ text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
          tools: [{ cache_control: { type: 'ephemeral', ttl: '5m' } }],
          messages: [user([{ text: 'Hi.', cache_control: { type: 'ephemeral', ttl: '1h' } }])],
          cache_control: { type: 'ephemeral' },
        }),
      },
    },
  },
  {
    kind: 'asked',
    id: 'H24',
    title: 'Instructions, and nobody who says anything',
    cells: {
      chat: {
        ask: { messages: [{ role: 'system', content: 'Be brief.' }] },
        toChat: carried({ messages: [{ role: 'system', content: 'Be brief.' }] }),
        toMessages: approximated('as words of the user', ['messages[].role'], {
          messages: [user([{ type: 'text', text: 'Be brief.' }])],
        }),
      },
      responses: {
        ask: { input: [{ role: 'system', content: 'Be brief.' }] },
        toChat: carried({ messages: [{ role: 'system', content: 'Be brief.' }] }),
        toMessages: approximated('as words of the user', ['input[].role'], {
          messages: [user([{ type: 'text', text: 'Be brief.' }])],
        }),
      },
      messages: { cannotAsk: 'messages begin with the user' },
    },
  },
]
