import { describe, expect, test } from 'bun:test'
import { listReplies, whyNoRecordings } from './recorded.ts'
import { replay } from './replay.ts'

const reason = whyNoRecordings()
if (reason !== null) console.log(reason)

/** `npm run prove -- recordings` cuts every stream in all the places that matter. */
const cuts = 3

describe.if(reason === null)('a recorded reply says the same to callers of all three formats', () => {
  for (const reply of reason === null ? listReplies() : []) {
    test(`${reply.name}${reply.isStream ? ', wherever its reads end' : ''}`, () => {
      const { read, problems } = replay(reply, cuts)
      expect(problems).toEqual([])
      expect(read).toBe(3)
    })
  }
})
