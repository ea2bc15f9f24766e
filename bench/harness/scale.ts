/** How much of everything a run does. */
export interface Scale {
  isQuick: boolean
  /** Rounds per case; medians are taken over them. */
  rounds: number
  /** Seconds of load per target and round. */
  seconds: number
  /** Seconds of load per target before the first round. */
  warmSeconds: number
  hangUps: number
  streams: number
  batchItems: number
}

/** Everything, in six to ten minutes; `--only` runs a part. */
export const fullScale: Scale = {
  isQuick: false,
  rounds: 5,
  seconds: 2,
  warmSeconds: 8,
  hangUps: 100_000,
  streams: 1000,
  batchItems: 50_000,
}

/** A look, in about one. */
export const quickScale: Scale = {
  isQuick: true,
  rounds: 3,
  seconds: 1,
  warmSeconds: 3,
  hangUps: 6000,
  streams: 200,
  batchItems: 5000,
}
