import { openAiChat } from '../../formats/text/chat/quirks.ts'
import { geminiContent } from '../../formats/text/gemini/quirks.ts'
import { anthropicMessages } from '../../formats/text/messages/quirks.ts'
import type { PathTarget } from '../../formats/text/text-interface.ts'
import { clientTools, cloudBetas, claudeHourWrites, claudeOf } from '../anthropic/quirks.ts'
import { bearer, defineProvider, named, onlyFor } from '../define-provider.ts'
import { studioModels } from '../google-ai-studio/capabilities.ts'
import { geminiOf } from '../google-ai-studio/quirks.ts'
import { fetchGoogleLogin } from './login.ts'
import { vertexPrices } from './prices.ts'
import { publicNameOf, upstreamOf } from './public-names.ts'

const claude = /(?:^|\/)claude-/
const gemini = /(?:^|\/)(?:gemini|gemma)-[^/]*$/
/** The model of another maker, whose name here begins with its publisher; public ids say nothing of that. */
const other = /^(?!google\/|anthropic\/)[\w-]+\/[^/]+$/

/** The path of a model of one publisher; names may have the publisher in front. */
const pathOf =
  (publisher: string, [whole, streamed]: readonly [string, string]) =>
  ({ model, stream }: PathTarget): string =>
    `/publishers/${publisher}/models/${encodeURIComponent(model.slice(model.lastIndexOf('/') + 1))}:${stream ? streamed : whole}`

/**
 * Models of Google and of other makers in the operator's project and region. Without an API key, tokens are fetched as
 * Google's own tools do. The operator names the models: no listing tells which of them a project may use.
 */
export const vertexAi = defineProvider({
  slug: 'vertex-ai',
  name: 'Vertex AI',
  baseUrl: 'https://{region}-aiplatform.googleapis.com/v1beta1/projects/{project}/locations/{region}',
  regionHosts: {
    global: 'aiplatform.googleapis.com',
    us: 'aiplatform.us.rep.googleapis.com',
    eu: 'aiplatform.eu.rep.googleapis.com',
  },
  auth: { type: 'header', name: 'x-goog-api-key', prefix: '' },
  keyForms: { bearer },
  identity: { kind: 'google', fetch: fetchGoogleLogin },
  placeVariables: {
    region: ['GOOGLE_CLOUD_LOCATION', 'CLOUD_ML_REGION'],
    project: ['GOOGLE_CLOUD_PROJECT', 'ANTHROPIC_VERTEX_PROJECT_ID'],
  },
  author: 'google',
  listing: null,
  onlyListed: true,
  pricesProviderId: 'google',
  prices: vertexPrices,
  hourWrites: claudeHourWrites,
  // From 4.5 on, every region but `global` costs a tenth more. https://platform.claude.com/docs/en/about-claude/pricing
  regional: {
    models: /claude-(?:(?:opus|sonnet|haiku)-4[-.][5-9]|(?:opus|sonnet|haiku|fable)-[5-9])/,
    share: [11n, 10n],
  },
  publicName: publicNameOf,
  upstreamOf,
  modelRules: studioModels,
  hostsManyMakers: true,
  dataPolicy: { zdr: false, trains: false, stores: true },
  adapters: {
    language: [
      onlyFor(named(claude), {
        ...anthropicMessages(
          {
            modelOf: claudeOf,
            inBody: {
              version: 'vertex-2023-10-16',
              hasStream: true,
              hasBetas: false,
              betas: new RegExp(`${cloudBetas.source}|^web-search-`),
              serverTools: new RegExp(`${clientTools.source}|^web_search_`),
            },
          },
          pathOf('anthropic', ['rawPredict', 'streamRawPredict']),
        ),
      }),
      onlyFor(
        named(gemini),
        geminiContent(
          { modelOf: geminiOf },
          pathOf('google', ['generateContent', 'streamGenerateContent?alt=sse']),
        ),
      ),
      onlyFor(
        ({ upstreamModel }) => other.test(upstreamModel),
        openAiChat({}, '/endpoints/openapi/chat/completions'),
      ),
    ],
  },
})
