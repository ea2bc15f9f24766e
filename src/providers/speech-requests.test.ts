import { expect, test } from 'bun:test'
import { rowsOf } from '../../test/support/rows-of-providers.ts'
import { speechRequestOf } from '../../test/support/speech-testing.ts'
import { presetOf } from './deployments.ts'

// The request to each provider, member by member, written by hand from its documentation.

test.each(rowsOf('speechRequests').map((row) => [presetOf(row.preset), row] as const))(
  '$name is asked in its own words (%#)',
  ({ adapters }, { model, fields, path, body }) => {
    if (adapters.speech === undefined) throw new Error('it speaks nothing')
    const asked = speechRequestOf(adapters.speech, model, fields)
    expect(asked).toMatchObject({ path, body })
    expect(Object.keys(asked.body).toSorted()).toEqual(Object.keys(body).toSorted())
  },
)
