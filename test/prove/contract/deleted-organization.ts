import { Database } from 'bun:sqlite'
import { prepareGateway } from '../../story/real-gateway.ts'
import { observation, type Check } from '../observations.ts'

const managementKey = 'management-key-of-the-proof'
/** Longer than a key stays cached. */
const uncachedMs = 2_500

export const proof = observation({
  title: 'settings of an organization that was deleted are 404, whether or not its key is cached',
  async observe(): Promise<Check[]> {
    const gateway = prepareGateway(null)
    const answers: string[] = []
    const ask = async (init: RequestInit) => {
      const headers = { authorization: `Bearer ${managementKey}`, 'content-type': 'application/json' }
      const response = await fetch(`${gateway.baseUrl}/organization/settings`, { ...init, headers })
      const body = (await response.json()) as { error?: { message?: string } }
      answers.push(`${response.status} ${body.error?.message?.slice(0, 60) ?? ''}`.trim())
      return response.status
    }
    const patch = { method: 'PATCH', body: '{"is_filtered_model_catalog_enabled":true}' }
    try {
      await gateway.start({ HEADRACE_BOOTSTRAP_MANAGEMENT_KEY: managementKey })
      if ((await ask(patch)) !== 200) throw new Error(`the settings were not set: ${answers.join()}`)
      const database = new Database(gateway.databasePath)
      database.run('pragma busy_timeout = 5000')
      database.run('pragma foreign_keys = off')
      database.run('delete from organizations')
      database.close()
      await Bun.sleep(uncachedMs)
      const patched = await ask(patch)
      const read = await ask({ method: 'GET' })
      return [
        { name: 'PATCH once the key is no longer cached', held: patched === 404, seen: answers[1] ?? '' },
        { name: 'GET once the key is no longer cached', held: read === 404, seen: answers[2] ?? '' },
      ]
    } finally {
      await gateway.remove()
    }
  },
})
