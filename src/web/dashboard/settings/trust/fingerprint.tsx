/** Groups of four, which people compare without losing their place. */
export function Fingerprint({ hex }: { hex: string }) {
  return (
    <code class="fingerprint">
      {(hex.match(/.{1,4}/g) ?? []).map((group, i) => (
        <span key={i}>{group} </span>
      ))}
    </code>
  )
}
