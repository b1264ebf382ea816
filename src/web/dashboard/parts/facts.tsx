import type { ComponentChildren } from 'preact'

/** Names and values; empty values are left out. */
export function Facts({ facts }: { facts: readonly (readonly [ComponentChildren, ComponentChildren])[] }) {
  const told = facts.filter(([, value]) => value !== undefined && value !== null && value !== false && value !== '')
  if (told.length === 0) return null
  return (
    <dl class="facts">
      {told.map(([name, value], i) => (
        <div key={i}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}
