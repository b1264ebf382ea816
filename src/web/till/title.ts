import type { Till } from '../../devices/schema.ts'
import { useLanguage } from '../shared/language.tsx'

/** What a template is called in the reader's language; its key when nobody has said. */
export function useTitle(till: Till | undefined): (template: string) => string {
  const language = useLanguage()
  return template => till?.templates.find(({ key }) => key === template)?.title?.[language] ?? template
}
