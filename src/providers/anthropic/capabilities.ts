import type { ModelRule } from '../../catalog/capabilities.ts'

/** Claude, under its names at Anthropic and at other hosts. */
export const claudeModels: readonly ModelRule[] = [
  { name: /claude-(opus|sonnet|haiku|fable)-?[4-9]|claude-3-7/i, reasons: true },
  { name: /claude/i, sees: true },
]
