import type { ModelRule } from '../../catalog/capabilities.ts'

/** Kimi, under its names at Moonshot and at other hosts. */
export const kimiModels: readonly ModelRule[] = [
  { name: /kimi-(k2(?!.*(0711|0905|turbo|instruct))|k[3-9])/i, reasons: true },
  { name: /kimi-(k2[.p][5-9]|k[3-9])|moonshot-v1-.*vision/i, sees: true },
]
