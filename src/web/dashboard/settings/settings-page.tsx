import type { ComponentChildren } from 'preact'
import { Page } from '../parts/page.tsx'

type Props = { title: string; intro?: ComponentChildren; actions?: ComponentChildren; children: ComponentChildren }

/** Forms are easier to read on a narrow page. */
export const SettingsPage = ({ children, ...page }: Props) => (
  <Page {...page}>
    <div class="stack loose settings">{children}</div>
  </Page>
)
