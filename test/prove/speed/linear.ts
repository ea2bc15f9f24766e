import { answerCases, listHosts, requestCases, streamCases } from '../linear/campaign.ts'
import { judge } from '../linear/judge.ts'
import { transcriptCases } from '../linear/transcripts.ts'
import { combine, type Proof } from '../proof.ts'

/** A pattern: only the cases whose names match it run, for somebody who is mending one of them. */
const only = new RegExp(process.env['HEADRACE_PROVE_CASES'] ?? '')

export const proof: Proof = {
  title: 'every translation, for every host, is linear, and no turn of it is long',
  run() {
    const hosts = listHosts()
    const groups = [
      { what: 'requests', cases: requestCases(hosts) },
      { what: 'answers', cases: answerCases(hosts) },
      { what: 'streams', cases: streamCases(hosts) },
      { what: 'transcripts', cases: transcriptCases() },
    ]
    const chosen = groups.map(({ what, cases }) => ({
      what,
      cases: cases.filter(({ name }) => only.test(name)),
    }))
    return Promise.resolve(
      combine(chosen.filter(({ cases }) => cases.length > 0).map(({ what, cases }) => judge(what, cases))),
    )
  },
}
