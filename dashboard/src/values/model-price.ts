import type { Model } from '../api/models.ts'
import { compactNumber, pricePer } from './money.ts'

const million = 1_000_000n

/** The price in the unit that people compare: `$0.15 / $0.60 per M · 128k`. */
export function describePrice(model: Model): string {
  const pricing: Readonly<Record<string, unknown>> = model.pricing
  const of = (name: string, quantity: bigint) => {
    const value = pricing[name]
    return typeof value === 'string' ? pricePer(value, quantity) : null
  }
  const outputs = model.architecture.output_modalities
  if (outputs.includes('transcription')) {
    const hour = of('audio', 3600n)
    return hour === null ? 'unpriced' : `${hour} per h`
  }
  const prompt = of('prompt', million)
  const completion = of('completion', million)
  if (outputs.includes('speech')) return prompt === null ? 'unpriced' : `${prompt} per M`
  if (prompt === null && completion === null) return 'unpriced'
  const context = model.context_length === null ? '' : ` · ${compactNumber(model.context_length)}`
  return `${prompt ?? '$0.00'} / ${completion ?? '$0.00'} per M${context}`
}
