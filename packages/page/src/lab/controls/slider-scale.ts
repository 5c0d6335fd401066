/** A slider whose steps are ratios: as far from 1 to 10 as from 1,000 to 10,000. */
export const SLIDER_STEPS = 200

/** The values at the ends of a slider, and whether the values between are whole numbers. */
export interface SliderScale {
  readonly least: number
  readonly most: number
  readonly isWhole: boolean
}

/** Where a value is on the slider. Values beyond its ends are at the ends. */
export function sliderStep(value: number, { least, most }: SliderScale): number {
  if (!(value > least)) return 0
  return Math.round((Math.log(Math.min(value, most) / least) / Math.log(most / least)) * SLIDER_STEPS)
}

/** The value of a step, with two digits: people set 120 and not 118.7. */
export function sliderValue(step: number, { least, most, isWhole }: SliderScale): number {
  const exact = least * (most / least) ** (step / SLIDER_STEPS)
  const rounded = Number(exact.toPrecision(2))
  return isWhole ? Math.max(least, Math.round(rounded)) : rounded
}

/** A typed text as the number in its box and the unit behind it: `5/s` is `5` and `/s`, `1.5m` is `1.5` and `m`. */
export interface Amount {
  readonly amount: string
  readonly unit: string
}

export function splitRate(text: string): Amount {
  const at = text.indexOf('/')
  return at < 0 ? { amount: text, unit: '' } : { amount: text.slice(0, at), unit: text.slice(at) }
}

export function splitDuration(text: string): Amount {
  const unit = /(?:ms|[smhd])$/.exec(text)?.[0] ?? ''
  return { amount: text.slice(0, text.length - unit.length), unit }
}
