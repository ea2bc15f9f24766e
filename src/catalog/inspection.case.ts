import type { InspectionQuestion, InspectionReply } from './inspection.ts'
import { parseListing } from './listing.ts'

/** A server that answers by a table of `METHOD path model`, and refuses the connection for everything else. */
export function serverOf(replies: Record<string, InspectionReply>) {
  const asked: string[] = []
  const ask = ({ method, path, body }: InspectionQuestion): Promise<InspectionReply> => {
    const question = `${method} ${path} ${String(body?.['model'] ?? '')}`.trim()
    asked.push(question)
    const reply = replies[question]
    return reply ? Promise.resolve(reply) : Promise.reject(new Error('refused'))
  }
  return { ask, asked }
}

/** A listing that tells nothing of its models but their names. */
export const listing = (...ids: string[]) => parseListing({ data: ids.map((id) => ({ id, created: 1 })) })
