/**
 * Replaces the browser's bubbles, which speak its language and hide after a moment: each field
 * shows its problem below itself (field.tsx), and the first wrong one gets the focus.
 */
export function showOwnErrors(): void {
  document.addEventListener(
    'invalid',
    event => {
      event.preventDefault()
      const field = event.target
      const form = field instanceof HTMLElement ? field.closest('form') : null
      if (form?.querySelector('input:invalid, textarea:invalid, select:invalid') === field) (field as HTMLElement).focus()
    },
    // `invalid` does not bubble.
    true,
  )
}
