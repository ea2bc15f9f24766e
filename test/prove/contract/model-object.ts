import { prepareGateway } from '../../story/real-gateway.ts'
import { observation, type Check } from '../observations.ts'

export const proof = observation({
  title: "one model is OpenAI's model object, so that a client's models.retrieve works",
  async observe(): Promise<Check[]> {
    const gateway = prepareGateway(null)
    try {
      await gateway.start()
      const paths = ['openai/gpt-4o-mini', 'openai%2Fgpt-4o-mini']
      const checks = paths.map(async (path): Promise<Check> => {
        const response = await fetch(`${gateway.baseUrl}/models/${path}`)
        const body = (await response.json()) as Record<string, unknown>
        const held =
          response.status === 200 && body['id'] === 'openai/gpt-4o-mini' && body['object'] === 'model'
        return { name: `GET /models/${path}`, held, seen: `${response.status}` }
      })
      const listed = await fetch(`${gateway.baseUrl}/models`)
      const { data } = (await listed.json()) as { data: Record<string, unknown>[] }
      const named = data.filter(
        (entry) => entry['object'] === 'model' && typeof entry['owned_by'] === 'string',
      )
      const entries: Check = {
        name: 'entries of /models carry object and owned_by',
        held: data.length > 0 && named.length === data.length,
        seen: `${named.length} of ${data.length}`,
      }
      return [...(await Promise.all(checks)), entries]
    } finally {
      await gateway.remove()
    }
  },
})
