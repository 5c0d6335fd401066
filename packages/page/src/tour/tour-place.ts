/** A rectangle in the window, in pixels. */
export interface Box {
  readonly left: number
  readonly top: number
  readonly width: number
  readonly height: number
}

const GAP = 12

/**
 * Where a popover goes that is about `target`: below it if there is room, else above it, else at the lower edge of the window,
 * over the target. It stays within the window.
 */
export function tourPlace(
  target: Box,
  popover: { readonly width: number; readonly height: number },
  window: { readonly width: number; readonly height: number },
): { readonly left: number; readonly top: number } {
  const below = target.top + target.height + GAP
  const above = target.top - GAP - popover.height
  const lowest = window.height - popover.height - GAP
  const top = below <= lowest ? below : above >= GAP && above <= lowest ? above : lowest
  const left = Math.min(target.left, window.width - popover.width - GAP)
  return { left: Math.max(GAP, left), top: Math.max(GAP, top) }
}
