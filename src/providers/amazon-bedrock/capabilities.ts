import type { ModelRule } from '../../catalog/capabilities.ts'

/** What Bedrock's names tell beyond those of the makers. */
export const bedrockModels: readonly ModelRule[] = [
  { name: /embed/i, modality: 'embedding' },
  { name: /nova-(?:2-)?sonic|stability|canvas|reel|image/i, modality: null },
  { name: /amazon\.nova-2/i, reasons: true },
  { name: /amazon\.nova(?!-micro)/i, sees: true },
  { name: /deepseek\.r1|gpt-oss|magistral|minimax|kimi/i, reasons: true },
]
