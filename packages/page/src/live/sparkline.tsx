const WIDTH = 120
const HEIGHT = 28

interface SparklineProps {
  readonly admitted: readonly number[]
  readonly denied: readonly number[]
}

/** A minute, small: admitted as a line on an area, denied as a line on the ground. The figures beside it say the same in words. */
export function Sparkline({ admitted, denied }: SparklineProps) {
  const most = Math.max(...admitted, ...denied, 0)
  if (most === 0) return <span class="sparkline-none">quiet</span>
  const line = pathOf(admitted, most)
  return (
    <svg class="sparkline" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} width={WIDTH} height={HEIGHT} aria-hidden="true">
      <path class="sparkline-area" d={`${line}V${HEIGHT}H${xOf(0, admitted.length)}Z`} />
      <path class="sparkline-admitted" d={line} />
      {denied.some((value) => value > 0) && <path class="sparkline-denied" d={pathOf(denied, most)} />}
    </svg>
  )
}

/** The last minute ends at the right: a shorter history begins further in. */
function xOf(at: number, points: number): number {
  return WIDTH - ((points - 1 - at) * WIDTH) / 59
}

function pathOf(values: readonly number[], most: number): string {
  const points = values.map((value, at) => {
    const y = HEIGHT - 1.5 - (value / most) * (HEIGHT - 3)
    return `${xOf(at, values.length).toFixed(1)} ${y.toFixed(1)}`
  })
  return `M${points.join('L')}`
}
