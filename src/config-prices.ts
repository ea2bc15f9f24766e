import { z } from 'zod'
import { writtenPrices, type WrittenPrice } from './canonical/usage.ts'
import { serviceTierLengthMax } from './core/limits/http.ts'
import { parseCredits } from './core/money.ts'

/** A surcharge above ten times what the audio costs is a typing error. */
const surchargePercentMax = 1_000
/** Longest minimum and step, in seconds, by which a price may count the time of audio. */
const timeRuleSecondsMax = 3_600

const amount = z
  .union([z.string(), z.number()])
  .refine(isAmount, 'must be a decimal amount of USD, 0 or more, such as "0.15"')
  .describe('USD, written as a decimal string or number')

const seconds = z.number().min(0).max(timeRuleSecondsMax)

const percent = z
  .union([z.string(), z.number()])
  .refine(
    isPercent,
    `must be a percentage from 0 to ${surchargePercentMax} with at most four digits behind the point`,
  )

const leastTime = {
  minimum_seconds: seconds
    .optional()
    .describe('Seconds of audio that a call which asks for it is billed for at least'),
}

const surcharge = z.union(
  [
    z.strictObject({ percent: percent.describe('In percent of what the audio costs'), ...leastTime }),
    z.strictObject({ per_minute: amount, ...leastTime }),
    z.strictObject({ per_hour: amount, ...leastTime }),
  ],
  { error: 'must be an object with one of "percent", "per_minute" and "per_hour"' },
)

const amounts = Object.fromEntries(
  Object.entries(writtenPrices).map(([member, { description }]) => {
    const optional = amount.optional()
    return [member, description === undefined ? optional : optional.describe(description)]
  }),
) as Record<WrittenPrice, z.ZodOptional<typeof amount>>

const priceMembers = {
  ...amounts,
  minimum_seconds: seconds
    .optional()
    .describe('Seconds of audio that a call is billed for at least, where audio is billed by time'),
  round_to_seconds: seconds
    .optional()
    .describe('Audio is billed in whole steps of so many seconds; a step that has begun counts'),
  per_channel: z
    .union([z.boolean(), z.literal('when_asked')])
    .optional()
    .describe(
      'The time of audio is billed once for each of its channels: stereo costs twice as much; `when_asked`: only for calls whose `provider.options` ask for each channel apart',
    ),
  surcharges: z
    .strictObject({
      diarize: surcharge.optional().describe('For calls with `diarize`'),
      keyterms: surcharge.optional().describe('For calls with `keyterms`'),
      entities: surcharge.optional().describe('For calls whose `provider.options` ask for entities'),
      transcript_edit: surcharge
        .optional()
        .describe('For calls whose `provider.options` ask for an edited transcript'),
      speaker_roles: surcharge
        .optional()
        .describe('For calls whose `provider.options` ask for the roles of speakers'),
    })
    .optional()
    .describe('What a transcription costs besides, where it was asked for more than words'),
}

const oneTime = { error: 'state the price of audio by the second, the minute or the hour: one of the three' }

/** What an operator states of prices; the members are those of `OperatorPrices`. */
export const pricesSchema = z
  .strictObject({
    ...priceMembers,
    service_tiers: z
      .record(
        z.string().min(1).max(serviceTierLengthMax),
        z.strictObject(priceMembers).refine(hasOneTime, oneTime),
      )
      .optional()
      .describe(
        'By the name of a service tier, such as `flex` or `priority`, what differs there. Callers may ask for tiers that have a price, and pay that of the tier that served them',
      ),
  })
  .refine(hasOneTime, oneTime)
  .describe('What the provider charges. Units that are left out keep the price known otherwise.')

function isPercent(value: string | number): boolean {
  if (!isAmount(value) || Number(value) > surchargePercentMax) return false
  // A share is counted in whole millionths.
  return parseCredits(value) % 100_000n === 0n
}

/** Only one unit of time may have a price: a second one would price the same audio twice. */
function hasOneTime(prices: Readonly<Record<string, unknown>>): boolean {
  return audioTimeMembers.filter((member) => prices[member] !== undefined).length <= 1
}

const audioTimeMembers = ['audio_per_second', 'audio_per_minute', 'audio_per_hour']

/** Whether it is an amount of USD, 0 or more. */
export function isAmount(value: string | number): boolean {
  try {
    return parseCredits(value) >= 0n
  } catch {
    return false
  }
}
