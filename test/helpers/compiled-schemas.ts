import type { TSchema } from '@sinclair/typebox'
import { type TypeCheck, TypeCompiler } from '@sinclair/typebox/compiler'

/** Every service compiles the schemas of the routes it is asked for, a millisecond each. Here a thousand services share them. */
export function keepCompiledSchemas(): void {
  const compile = TypeCompiler.Compile
  const compiled = new WeakMap<TSchema, TypeCheck<TSchema>>()
  TypeCompiler.Compile = ((schema: TSchema, references: TSchema[] = []) => {
    if (references.length > 0) return compile(schema, references)
    const check = compiled.get(schema) ?? compile(schema)
    compiled.set(schema, check)
    return check
  }) as typeof compile
}
