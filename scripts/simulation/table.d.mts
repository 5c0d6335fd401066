import type { Row } from '../../packages/sluice/test/simulator/experiments.js'

export function tableOf(rows: readonly Row[]): string
