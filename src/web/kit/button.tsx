import type { ComponentChildren, JSX, PartialAnchorHTMLAttributes } from 'preact'
import { Seal } from './seal.tsx'

type Look = { kind?: 'primary' | 'plain' | 'danger' | 'quiet'; large?: boolean; wide?: boolean; children: ComponentChildren }

const classOf = ({ kind = 'plain', large, wide }: Look): string => `button ${kind}${large ? ' large' : ''}${wide ? ' wide' : ''}`

type ButtonProps = Look & { busy?: boolean } & Omit<JSX.IntrinsicElements['button'], keyof Look | 'class' | 'className'>

/** A busy button ignores clicks but keeps its width and its focus. */
export function Button({ kind, large, wide, busy = false, children, type = 'button', onClick, ...rest }: ButtonProps) {
  return (
    <button
      {...rest}
      type={type}
      class={classOf({ kind, large, wide, children })}
      aria-disabled={busy || undefined}
      aria-busy={busy || undefined}
      onClick={event => (busy ? event.preventDefault() : onClick?.(event))}
    >
      {busy && <Seal state="busy" size={18} />}
      {children}
    </button>
  )
}

type LinkProps = Look & { href: string } & Omit<
    PartialAnchorHTMLAttributes<HTMLAnchorElement>,
    keyof Look | 'class' | 'className' | 'href' | 'role'
  >

/** A link that looks like a button. */
export function LinkButton({ kind, large, wide, children, ...rest }: LinkProps) {
  return (
    <a {...rest} class={classOf({ kind, large, wide, children })}>
      {children}
    </a>
  )
}
