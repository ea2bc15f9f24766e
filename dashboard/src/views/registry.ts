import type { View } from '../app/view.ts'
import { batchNew } from './batch-new/view.ts'
import { batch } from './batch/view.ts'
import { batches } from './batches/view.ts'
import { chat } from './chat/view.ts'
import { keyNew } from './key-new/view.ts'
import { key } from './key/view.ts'
import { keys } from './keys/view.ts'
import { members } from './members/view.ts'
import { model } from './model/view.ts'
import { models } from './models/view.ts'
import { money } from './money/view.ts'
import { organization } from './organization/view.ts'
import { overview } from './overview/view.ts'
import { request } from './request/view.ts'
import { requests } from './requests/view.ts'
import { speech } from './speech/view.ts'
import { start } from './start/view.ts'
import { system } from './system/view.ts'
import { transcription } from './transcription/view.ts'
import { you } from './you/view.ts'

/** Every page, in the order of the sidebar: a folder and a line each. */
export const views: readonly View[] = [
  overview,
  requests,
  request,
  batches,
  batchNew,
  batch,
  models,
  model,
  start,
  chat,
  speech,
  transcription,
  keys,
  keyNew,
  key,
  organization,
  members,
  money,
  system,
  you,
]
