import type { SourceMap } from 'node:module';
import type { AnyNode, CallExpression, Program, VariableDeclarator } from 'acorn';
import { parse } from 'acorn';
import { transform } from 'esbuild';
import type { Place } from './finding.ts';
import { parseMap, positionIn } from './source-map.ts';
import { loaderOf } from './sources.ts';

/** A name that stands for something of another module; `*` is all of it. */
export interface Import {
  readonly specifier: string;
  readonly name: string;
}

/** One of the author's modules as a syntax tree, with what its names stand for at the top level. */
export class AuthorModule {
  readonly path: string;
  readonly program: Program;
  readonly imports = new Map<string, Import>();
  readonly bindings = new Map<string, AnyNode>();
  readonly exports = new Map<string, AnyNode | Import>();
  private readonly file: string;
  private readonly map: SourceMap;

  private constructor(path: string, file: string, program: Program, map: SourceMap) {
    this.path = path;
    this.file = file;
    this.program = program;
    this.map = map;
    for (const statement of program.body) this.note(statement);
  }

  static async read(path: string, file: string, text: string): Promise<AuthorModule> {
    // Types are taken off by the compiler, so that one parser reads both languages; the map leads back to what was written.
    const { code, map } = await transform(text, {
      loader: loaderOf(path),
      sourcemap: 'external',
      sourcefile: file,
      target: 'es2023',
      logLevel: 'silent',
      tsconfigRaw: {},
    });
    const program = parse(code, { ecmaVersion: 'latest', sourceType: 'module', locations: true, allowHashBang: true });
    return new AuthorModule(path, file, program, parseMap(map));
  }

  placeOf(node: AnyNode): Place {
    const { line = 1, column = 0 } = node.loc?.start ?? {};
    return { ...(positionIn(this.map, line, column + 1) ?? { line: 1, column: 1 }), file: this.file };
  }

  /** The import or export that names this specifier. */
  importOf(specifier: string): AnyNode | undefined {
    return this.program.body.find((statement) => 'source' in statement && statement.source?.value === specifier);
  }

  private note(statement: AnyNode): void {
    switch (statement.type) {
      case 'ImportDeclaration':
        for (const one of statement.specifiers) {
          const name =
            one.type === 'ImportSpecifier'
              ? nameOf(one.imported)
              : one.type === 'ImportDefaultSpecifier'
                ? 'default'
                : '*';
          this.imports.set(one.local.name, { specifier: String(statement.source.value), name: name ?? '*' });
        }
        return;
      case 'VariableDeclaration':
        for (const declarator of statement.declarations) this.bind(declarator);
        return;
      case 'FunctionDeclaration':
      case 'ClassDeclaration':
        if (statement.id) this.bindings.set(statement.id.name, statement);
        return;
      case 'ExportDefaultDeclaration':
        this.exports.set('default', statement.declaration);
        return;
      case 'ExportNamedDeclaration':
        if (statement.declaration) this.noteExported(statement.declaration);
        for (const one of statement.specifiers) {
          const [exported, local] = [nameOf(one.exported), nameOf(one.local)];
          if (exported === undefined || local === undefined) continue;
          const from = statement.source?.value;
          this.exports.set(exported, typeof from === 'string' ? { specifier: from, name: local } : one.local);
        }
        return;
      case 'ExpressionStatement':
        this.noteCommonJs(statement.expression);
    }
  }

  private noteExported(declaration: AnyNode): void {
    const before = new Set(this.bindings.keys());
    this.note(declaration);
    for (const [name, node] of this.bindings) if (!before.has(name)) this.exports.set(name, node);
  }

  private bind({ id, init }: VariableDeclarator): void {
    const required = init ? requiredBy(init) : undefined;
    if (id.type === 'Identifier' && required !== undefined) {
      this.imports.set(id.name, { specifier: required, name: '*' });
    } else if (id.type === 'Identifier' && init) {
      this.bindings.set(id.name, init);
    } else if (id.type === 'ObjectPattern' && required !== undefined) {
      for (const property of id.properties) {
        if (property.type !== 'Property' || property.value.type !== 'Identifier') continue;
        const name = nameOf(property.key);
        if (name !== undefined) this.imports.set(property.value.name, { specifier: required, name });
      }
    }
  }

  private noteCommonJs(expression: AnyNode): void {
    if (expression.type !== 'AssignmentExpression' || expression.left.type !== 'MemberExpression') return;
    const { object, property } = expression.left;
    if (object.type === 'Identifier' && object.name === 'module' && nameOf(property) === 'exports') {
      this.exports.set('default', expression.right);
    }
  }
}

/** The name an identifier or a quoted key spells. */
export function nameOf(node: AnyNode): string | undefined {
  if (node.type === 'Identifier') return node.name;
  return stringOf(node);
}

export function stringOf(node: AnyNode): string | undefined {
  if (node.type === 'Literal') return typeof node.value === 'string' ? node.value : undefined;
  if (node.type !== 'TemplateLiteral' || node.expressions.length > 0) return undefined;
  return node.quasis[0]?.value.cooked ?? undefined;
}

function requiredBy(node: AnyNode): string | undefined {
  if (!isRequire(node)) return undefined;
  const [argument] = node.arguments;
  return argument && stringOf(argument);
}

export function isRequire(node: AnyNode): node is CallExpression {
  return node.type === 'CallExpression' && node.callee.type === 'Identifier' && node.callee.name === 'require';
}
