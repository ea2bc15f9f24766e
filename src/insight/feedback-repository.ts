import { newId } from '../core/ids.ts'
import type { Database } from '../storage/database.ts'

/** What somebody thinks of an answer. */
export interface Feedback {
  organizationId: string
  generationId: string
  category: string
  comment: string | null
  createdAtMs: number
}

/** Keeps feedback. Rejects with `storage_unavailable`. */
export interface FeedbackRepository {
  insert(feedback: Feedback): Promise<void>
}

export function createFeedbackRepository(database: Database): FeedbackRepository {
  return {
    async insert({ organizationId, generationId, category, comment, createdAtMs }) {
      const statement = {
        sql: `insert into generation_feedback (feedback_id, organization_id, generation_id, category, comment,
          created_at_ms) values ($1, $2, $3, $4, $5, $6)`,
        params: [
          newId('feedback', createdAtMs),
          organizationId,
          generationId,
          category,
          comment,
          createdAtMs,
        ],
      }
      await database.commit({ name: 'feedback.insert', statements: [statement] })
    },
  }
}
