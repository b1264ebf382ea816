/** Midnight of the reader's clock, so many days later; null for a day that is none. */
export function startOf(day: string | null, daysLater: number): string | null {
  const at = new Date(`${day}T00:00:00`)
  at.setDate(at.getDate() + daysLater)
  return Number.isNaN(at.getTime()) ? null : at.toISOString()
}

export function Day({ label, day, onDay }: { label: string; day: string | null; onDay: (day: string | null) => void }) {
  return (
    <label class="day line tight middle secondary">
      {label}
      <input class="input" type="date" value={day ?? ''} onChange={event => onDay(event.currentTarget.value || null)} />
    </label>
  )
}
