import type { Row } from '../../packages/sluice/test/simulator/experiments.js'

export function scatterPlot(rows: readonly Row[]): string
export function growthPlot(sizes: readonly number[], growth: Readonly<Record<string, readonly number[]>>): string
