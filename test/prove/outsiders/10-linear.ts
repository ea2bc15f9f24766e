import { answerCases, listHosts, requestCases, streamCases } from '../linear/campaign.ts'
import { judge } from '../linear/judge.ts'
import { transcriptCases } from '../linear/transcripts.ts'
import { combine, type Proof } from '../proof.ts'

export const proof: Proof = {
  title: 'every translation, for every host, is linear, and no turn of it is long',
  run() {
    const hosts = listHosts()
    return Promise.resolve(
      combine([
        judge('requests', requestCases(hosts)),
        judge('answers', answerCases(hosts)),
        judge('streams', streamCases(hosts)),
        judge('transcripts', transcriptCases()),
      ]),
    )
  },
}
