import { FunctionCallingConfigMode, GoogleGenAI, Modality, ThinkingLevel } from '@google/genai'
import type { At, Intentions } from '../../../test/vendor-sdks/programs/at.ts'
import { schema } from '../../../test/vendor-sdks/programs/bodies.ts'

const clientOf = ({ url, key }: At) =>
  new GoogleGenAI({ apiKey: key, httpOptions: { baseUrl: url, retryOptions: { attempts: 1 } } })
const model = 'gemini-2.5-flash'
const maxOutputTokens = 100
const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }

export const intentions: Intentions = {
  plain: (at) =>
    clientOf(at).models.generateContent({ model, contents: 'Say hello', config: { maxOutputTokens } }),
  tuned: (at) =>
    clientOf(at).models.generateContent({
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
  tools: (at) =>
    clientOf(at).models.generateContent({
      model,
      contents: [
        { role: 'user', parts: [{ text: 'How is the weather in Oslo?' }] },
        {
          role: 'model',
          parts: [{ functionCall: { id: 'call_1', name: 'weather', args: { city: 'Oslo' } } }],
        },
        {
          role: 'user',
          parts: [
            { functionResponse: { id: 'call_1', name: 'weather', response: { output: 'Rain' } } },
            { text: 'And tomorrow?' },
          ],
        },
      ],
      config: {
        maxOutputTokens,
        tools: [
          {
            functionDeclarations: [
              { name: 'weather', description: 'Weather of a city', parametersJsonSchema: parameters },
            ],
          },
        ],
        toolConfig: { functionCallingConfig: { mode: FunctionCallingConfigMode.ANY } },
      },
    }),
  schema: (at) =>
    clientOf(at).models.generateContent({
      model,
      contents: 'Name a city',
      config: { maxOutputTokens, responseMimeType: 'application/json', responseJsonSchema: schema },
    }),
  streamed: (at) =>
    clientOf(at).models.generateContentStream({
      model,
      contents: 'Say hello',
      config: { maxOutputTokens },
    }),
  effort: (at) =>
    clientOf(at).models.generateContent({
      model: 'gemini-3-flash-preview',
      contents: 'Think',
      config: {
        maxOutputTokens: 2_000,
        thinkingConfig: { thinkingLevel: ThinkingLevel.LOW, includeThoughts: true },
      },
    }),
  'no-thought': (at) =>
    clientOf(at).models.generateContent({
      model,
      contents: 'Do not think',
      config: { maxOutputTokens: 2_000, thinkingConfig: { thinkingBudget: 0 } },
    }),
  embedding: (at) =>
    clientOf(at).models.embedContent({
      model: 'gemini-embedding-001',
      contents: ['Hello'],
      config: { outputDimensionality: 256 },
    }),
  speech: (at) =>
    clientOf(at).models.generateContentStream({
      model: 'gemini-2.5-flash-preview-tts',
      contents: 'Hello there',
      config: {
        responseModalities: [Modality.AUDIO],
        speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: 'Kore' } } },
      },
    }),
}
