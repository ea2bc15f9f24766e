import { VoyageAIClient } from 'voyageai'

const clientOf = ({ url, key }) =>
  new VoyageAIClient({ apiKey: key, environment: `${url}/v1`, maxRetries: 0 })

export const intentions = {
  plain: (at) => clientOf(at).embed({ model: 'voyage-3.5', input: ['Hello'] }),
  shaped: (at) =>
    clientOf(at).embed({
      model: 'voyage-3.5',
      input: ['Hello', 'there'],
      outputDimension: 256,
      inputType: 'query',
    }),
}
