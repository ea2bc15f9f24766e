import { z } from 'zod'
import { type Described, json, listErrors, readErrors } from './described.ts'
import { insightExamples } from './insight-examples.ts'
import { feedbackSchema } from './schemas/account.ts'
import { analyticsAnswerSchema, analyticsMetaSchema, analyticsQuerySchema } from './schemas/analytics.ts'
import {
  activityQuerySchema,
  activitySchema,
  anonymousQuerySchema,
  anonymousSchema,
  balanceSchema,
  deploymentsSchema,
  doctorSchema,
  postingsExportQuerySchema,
  postingsQuerySchema,
  postingsSchema,
  requestSchema,
  requestsExportQuerySchema,
  requestsQuerySchema,
  requestsSchema,
  spanQuerySchema,
  spendLedgerSchema,
  spendQuerySchema,
  spendSchema,
  systemSchema,
} from './schemas/insight.ts'

const accounting = { tag: 'Accounting', access: 'management' } as const
const operating = { tag: 'Operation', access: 'management' } as const
const managed = [401, 403, 429, 500]
const listed = [...listErrors, 403].toSorted((left, right) => left - right)
const lines = (description: string) => ({
  status: 200,
  description,
  content: {
    'text/csv': { schema: { type: 'string' } },
    'application/x-ndjson': { schema: { type: 'string' } },
  },
})

/** What people look at: usage over time, the log of calls, the ledger, and how the gateway is. */
export const insightDescription: Readonly<Record<string, Described>> = {
  'GET /generation/content': {
    id: 'getGenerationContent',
    tag: 'Account',
    summary: 'What was said in one generation',
    description: 'Always 404: this gateway keeps no prompts and no answers.',
    access: 'any',
    query: z.object({ id: z.string() }),
    answer: {
      status: 200,
      description: 'Never',
      content: json(
        z.object({
          data: z.object({
            input: z.record(z.string(), z.unknown()),
            output: z.object({ completion: z.string().nullable(), reasoning: z.string().nullable() }),
            error: z.unknown().nullable(),
          }),
        }),
        insightExamples.content,
      ),
    },
    errors: readErrors,
  },
  'POST /generation/feedback': {
    ...accounting,
    id: 'submitGenerationFeedback',
    summary: 'Say what was wrong with one generation',
    body: json(feedbackSchema, { generation_id: 'gen-1764000000-k3v9q2x5tq8fs0k1c9d3', category: 'latency' }),
    answer: {
      status: 200,
      description: 'It is kept',
      content: json(z.object({ data: z.object({ success: z.literal(true) }) }), { data: { success: true } }),
    },
    errors: [400, 401, 403, 404, 413, 429, 500],
  },
  'GET /activity': {
    ...accounting,
    id: 'getActivity',
    summary: 'Usage of the last 30 completed days (UTC), by model and provider',
    query: activityQuerySchema,
    answer: {
      status: 200,
      description: 'The newest day first',
      content: json(activitySchema, insightExamples.activity),
    },
    errors: [400, ...managed, 404].toSorted((left, right) => left - right),
  },
  'GET /analytics/meta': {
    ...accounting,
    id: 'getAnalyticsMeta',
    summary: 'What `POST /analytics/query` can be asked for',
    answer: {
      status: 200,
      description: 'The vocabulary',
      content: json(analyticsMetaSchema, insightExamples.analyticsMeta),
    },
    errors: managed,
  },
  'POST /analytics/query': {
    ...accounting,
    id: 'queryAnalytics',
    summary: 'Sum usage by time, model, provider, key, workspace and member',
    description:
      'Money comes from the ledger. `usage_nanocredits` beside `usage` is exact. CSV by `headrace.format` or `Accept: text/csv`.',
    body: json(analyticsQuerySchema, {
      metrics: ['usage', 'request_count'],
      dimensions: ['model'],
      granularity: 'day',
      headrace: { time_zone: 'Europe/Berlin' },
    }),
    answer: {
      status: 200,
      description: 'One row for each group and bucket',
      content: {
        ...json(analyticsAnswerSchema, insightExamples.analytics),
        'text/csv': { schema: { type: 'string' } },
      },
    },
    errors: [400, 401, 403, 413, 429, 500],
  },
  'GET /headrace/spend': {
    ...accounting,
    id: 'getSpend',
    summary: 'What was spent, over time and by group, with errors and times',
    description:
      'Money comes from the ledger’s roll-ups and tail; the groups sum to the total. Spans are widened to whole quarters of an hour.',
    query: spendQuerySchema,
    answer: {
      status: 200,
      description: 'Figures in all, over time, and by group',
      content: json(spendSchema, insightExamples.spend),
    },
    errors: listed,
  },
  'GET /headrace/spend/ledger': {
    ...accounting,
    id: 'compareSpendWithLedger',
    summary: 'Whether the sums equal the ledger',
    description: 'Sums the postings of whole days (UTC) one by one, at most 31, and compares.',
    query: spanQuerySchema,
    answer: {
      status: 200,
      description: 'Both sums',
      content: json(spendLedgerSchema, insightExamples.spendLedger),
    },
    errors: listed,
  },
  'GET /headrace/requests': {
    ...operating,
    id: 'listRequests',
    summary: 'List calls, answered or not',
    description:
      'Live calls and items of batches, also those that a provider’s own batch service answered; an item has the id that its result has. The last day when no time is given. One answer searches for a bounded time: where `next_cursor` is set, go on with it, also after a page without rows.',
    query: requestsQuerySchema,
    answer: { status: 200, description: 'A page', content: json(requestsSchema, insightExamples.requests) },
    errors: listed,
  },
  'GET /headrace/requests/export': {
    ...operating,
    id: 'exportRequests',
    summary: 'All calls of a filter, for a spreadsheet',
    query: requestsExportQuerySchema,
    answer: lines('One line for each call'),
    errors: listed,
  },
  'GET /headrace/requests/anonymous': {
    ...operating,
    id: 'listAnonymousRequests',
    summary: 'Calls without a valid key, by address and minute',
    description: 'They belong to no organization, so no other list has them. Kept for `request_log_days`.',
    query: anonymousQuerySchema,
    answer: {
      status: 200,
      description: 'The newest minute first',
      content: json(anonymousSchema, insightExamples.anonymous),
    },
    errors: listed,
  },
  'GET /headrace/requests/:id': {
    ...operating,
    id: 'getRequest',
    summary: 'One call’s life',
    description:
      'By its request id (req_…) or generation id (gen-…). An item of a provider’s job has no times of its own.',
    answer: {
      status: 200,
      description: 'Hold, attempts, marks in the order of time, postings',
      content: json(requestSchema, insightExamples.request),
    },
    errors: [401, 403, 404, 429, 500, 503],
  },
  'GET /headrace/ledger/balance': {
    ...accounting,
    id: 'getBalance',
    summary: 'Granted, captured, held and what is left',
    answer: {
      status: 200,
      description: 'The balance',
      content: json(balanceSchema, insightExamples.balance),
    },
    errors: [...managed, 503],
  },
  'GET /headrace/ledger/postings': {
    ...accounting,
    id: 'listPostings',
    summary: 'List the postings of the organization',
    description:
      'The newest day first; the last 31 days when no time is given. Grants come beyond the limit.',
    query: postingsQuerySchema,
    answer: { status: 200, description: 'A page', content: json(postingsSchema, insightExamples.postings) },
    errors: listed,
  },
  'GET /headrace/ledger/postings/export': {
    ...accounting,
    id: 'exportPostings',
    summary: 'All postings of a filter, for a spreadsheet',
    query: postingsExportQuerySchema,
    answer: lines('One line for each posting'),
    errors: listed,
  },
  'GET /headrace/deployments': {
    ...operating,
    id: 'listDeployments',
    summary: 'How each deployment is',
    description: 'As the running processes see it; at most a few seconds old.',
    answer: {
      status: 200,
      description: 'The deployments',
      content: json(deploymentsSchema, insightExamples.deployments),
    },
    errors: [...managed, 503],
  },
  'GET /headrace/system': {
    ...operating,
    id: 'getSystem',
    summary: 'Processes, queues and versions',
    answer: { status: 200, description: 'The system', content: json(systemSchema, insightExamples.system) },
    errors: [...managed, 503],
  },
  'GET /headrace/doctor': {
    ...operating,
    id: 'runDoctor',
    summary: 'The findings of `headrace doctor`, with next steps',
    description:
      'Reads every row of the ledger in a process of its own: it may take a minute. Its answer counts for five seconds for others who ask.',
    answer: { status: 200, description: 'The findings', content: json(doctorSchema, insightExamples.doctor) },
    errors: [...managed, 503],
  },
}
