import SambaNova from 'sambanova'
import type { At, Intentions } from '../../../test/vendor-sdks/programs/at.ts'
import {
  effort,
  noThought,
  picture,
  plain,
  shaped,
  tools,
  tuned,
} from '../../../test/vendor-sdks/programs/bodies.ts'

const clientOf = ({ url, key }: At) => new SambaNova({ apiKey: key, baseURL: `${url}/v1`, maxRetries: 0 })
const limits = { model: 'Meta-Llama-3.3-70B-Instruct', max_tokens: 100 }
const thinking = { model: 'gpt-oss-120b', max_tokens: 2_000 }

export const intentions: Intentions = {
  plain: (at) => clientOf(at).chat.completions.create({ ...limits, ...plain }),
  tuned: (at) => clientOf(at).chat.completions.create({ ...limits, ...tuned }),
  tools: (at) => clientOf(at).chat.completions.create({ ...limits, ...tools }),
  schema: (at) => clientOf(at).chat.completions.create({ ...limits, ...shaped }),
  picture: (at) => clientOf(at).chat.completions.create({ ...limits, ...picture }),
  streamed: (at) =>
    clientOf(at).chat.completions.create({
      ...limits,
      ...plain,
      stream: true,
      stream_options: { include_usage: true },
    }),
  effort: (at) => clientOf(at).chat.completions.create({ ...thinking, ...effort, reasoning_effort: 'low' }),
  'no-thought': (at) =>
    clientOf(at).chat.completions.create({
      ...thinking,
      ...noThought,
      chat_template_kwargs: { enable_thinking: false },
    }),
}
