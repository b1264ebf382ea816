import type { Till } from '../../devices/schema.ts'
import { useLanguage } from '../shared/language.ts'

/** The title of a template, or its key if it has none. */
export function useTitle(till: Till | undefined): (template: string) => string {
  const language = useLanguage()
  return template => till?.templates.find(({ key }) => key === template)?.title?.[language] ?? template
}
