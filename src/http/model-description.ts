import { z } from 'zod'
import * as examples from './api-examples.ts'
import { json, listErrors, type Described } from './described.ts'
import {
  endpointSchema,
  modelEndpointsSchema,
  modelListQuerySchema,
  modelListSchema,
  modelSchema,
  providerSchema,
} from './schemas/model.ts'

/** The catalog's routes in the API description. */
export const modelDescription: Readonly<Record<string, Described>> = {
  'GET /models': {
    id: 'listModels',
    tag: 'Models',
    summary: 'List the models served here',
    access: 'optional',
    query: modelListQuerySchema,
    answer: {
      status: 200,
      description: 'A page of models',
      content: json(modelListSchema, examples.modelListExample),
    },
    errors: listErrors,
  },
  'GET /models/user': {
    id: 'listModelsUser',
    tag: 'Models',
    summary: 'List the models this key can use',
    access: 'any',
    query: modelListQuerySchema,
    answer: {
      status: 200,
      description: 'A page of models',
      content: json(modelListSchema, examples.modelListExample),
    },
    errors: listErrors,
  },
  'GET /models/count': {
    id: 'countModels',
    tag: 'Models',
    summary: 'Count the models served here',
    access: 'optional',
    query: modelListQuerySchema,
    answer: {
      status: 200,
      description: 'How many',
      content: json(z.object({ data: z.object({ count: z.int() }) }), { data: { count: 42 } }),
    },
    errors: listErrors,
  },
  'GET /models/:id{.+}/endpoints': {
    id: 'listEndpoints',
    tag: 'Models',
    summary: 'List who serves a model, with prices and how they fare',
    description: 'Latency, throughput and uptime are of the calls of this process; null where it made none.',
    access: 'optional',
    answer: {
      status: 200,
      description: 'The model and its endpoints',
      content: json(z.object({ data: modelEndpointsSchema }), examples.modelEndpointsExample),
    },
    errors: [401, 404, 429, 500, 503],
  },
  'GET /models/:id{.+}': {
    id: 'retrieveModel',
    tag: 'Models',
    summary: 'Read one model as the model object of OpenAI’s API',
    description:
      'The entry that `GET /models` has of it. The slash of an id may stand as it is or as `%2F`; a name without its author is found where one model has it.',
    access: 'optional',
    answer: {
      status: 200,
      description: 'The model',
      content: json(modelSchema, examples.modelExample.data),
    },
    errors: [401, 404, 429, 500, 503],
  },
  'GET /embeddings/models': {
    id: 'listEmbeddingsModels',
    tag: 'Models',
    summary: 'List the embedding models served here',
    access: 'optional',
    query: modelListQuerySchema,
    answer: {
      status: 200,
      description: 'A page of models',
      content: json(modelListSchema, examples.modelListExample),
    },
    errors: listErrors,
  },
  'GET /providers': {
    id: 'listProviders',
    tag: 'Models',
    summary: 'List the providers configured here',
    access: 'optional',
    answer: {
      status: 200,
      description: 'The providers',
      content: json(z.object({ data: z.array(providerSchema) }), examples.providersExample),
    },
    errors: [401, 429, 500, 503],
  },
  'GET /endpoints/zdr': {
    id: 'listEndpointsZdr',
    tag: 'Models',
    summary: 'List the endpoints with zero data retention',
    access: 'optional',
    answer: {
      status: 200,
      description: 'The endpoints',
      content: json(z.object({ data: z.array(endpointSchema) }), examples.zdrEndpointsExample),
    },
    errors: [401, 429, 500, 503],
  },
  'GET /model/:id{.+}': {
    id: 'getModel',
    tag: 'Models',
    summary: 'Read one model',
    access: 'optional',
    answer: {
      status: 200,
      description: 'The model',
      content: json(z.object({ data: modelSchema }), examples.modelExample),
    },
    errors: [401, 404, 429, 500, 503],
  },
}
