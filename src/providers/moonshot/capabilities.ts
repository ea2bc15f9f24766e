import type { ModelRule } from '../../catalog/capabilities.ts'

/** Kimi, under its names at Moonshot and at other hosts. */
export const kimiModels: readonly ModelRule[] = [
  // The first K2 thinks only under a name that says so, such as `kimi-k2-thinking`, and not under its plain name.
  { name: /kimi-(k2[.p][5-9]|k[3-9])/i, reasons: true },
  { name: /kimi-(k2[.p][5-9]|k[3-9])|moonshot-v1-.*vision/i, sees: true },
]
