import { AnthropicVertex } from '@anthropic-ai/vertex-sdk'
import { GoogleGenAI } from '@google/genai'

const [project, location] = ['p1', 'europe-west4']
const model = 'gemini-2.5-flash'
const maxOutputTokens = 100

const authClientOf = (key) => ({
  getRequestHeaders: async () => new Headers({ authorization: `Bearer ${key}` }),
  projectId: project,
})

const clientOf = ({ url, key }) => {
  const client = new GoogleGenAI({
    vertexai: true,
    project,
    location,
    httpOptions: { baseUrl: url, retryOptions: { attempts: 1 } },
    googleAuthOptions: { authClient: authClientOf(key) },
  })
  return client.models
}

export const intentions = {
  plain: (at) => clientOf(at).generateContent({ model, contents: 'Say hello', config: { maxOutputTokens } }),
  tuned: (at) =>
    clientOf(at).generateContent({
      model,
      contents: 'Say hello',
      config: {
        maxOutputTokens,
        systemInstruction: 'Be brief.',
        temperature: 0.5,
        stopSequences: ['END'],
        seed: 7,
      },
    }),
  streamed: async (at) => {
    const asked = { model, contents: 'Say hello', config: { maxOutputTokens } }
    for await (const _ of await clientOf(at).generateContentStream(asked)) continue
  },
  // Its own base has `v1`; both versions serve the method.
  messages: ({ url, key }) =>
    new AnthropicVertex({
      projectId: project,
      region: location,
      baseURL: `${url}/v1beta1`,
      authClient: authClientOf(key),
      maxRetries: 0,
    }).messages.create({
      model: 'claude-sonnet-4-5@20250929',
      max_tokens: 100,
      messages: [{ role: 'user', content: 'Say hello' }],
    }),
}
