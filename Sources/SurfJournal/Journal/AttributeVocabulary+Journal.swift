import TableGuessing

/// What columns of surf logs are called, in English, German, Spanish, Portuguese and French.
extension AttributeVocabulary {
  /// The attributes of a journal's entries.
  package static let journal = AttributeVocabulary(
    attributes: [date, height, period, wind, location, rating], timeLabels: timeLabels, otherLabels: otherLabels,
    dayFirstLabels: dayFirstLabels,
    // The journal app's own export.
    orders: [["date", "height", "period", "wind", "location", "rating"]])

  private static let textLength = #"{ "rule": "length", "max": 1000 }"#

  private static let date = Attribute(
    "date", .date,
    labels: [
      "day", "session date", "date of session", "datetime", "date time", "timestamp", "start", "start time", "when",
      "Datum", "Tag", "Datum/Uhrzeit", "Datum Uhrzeit", "wann", "Sitzung am",
      "Fecha", "Día", "Fecha y hora", "Cuándo", "Data", "Dia", "Data e hora", "Quando", "Date et heure", "Jour",
      "Quand",
    ],
    rules: [#""required""#, #"{ "rule": "notBefore", "date": "1900-01-01" }"#, #""notInFuture""#],
    isRequired: true, isPartOfKey: true)

  private static let height = Attribute(
    "height", .text,
    labels: [
      "wave height", "waves", "wave size", "size", "surf height", "surf", "swell height", "swell", "face height",
      "wave",
      "Wellenhöhe", "Wellenhoehe", "Höhe", "Hoehe", "Wellen", "Welle", "Wellengröße", "Wellengroesse", "Größe",
      "Dünung",
      "Altura", "Altura de ola", "Altura de la ola", "Altura de las olas", "Altura ola", "Olas", "Ola", "Tamaño",
      "Tamaño de ola", "Altura da onda", "Altura das ondas", "Altura de onda", "Ondas", "Onda", "Tamanho",
      "Tamanho da onda",
      "Hauteur", "Hauteur des vagues", "Hauteur de vague", "Hauteur vagues", "Vagues", "Vague", "Taille", "Houle",
    ],
    units: ["m", "ft", "feet", "foot", "'", "cm", "meter", "metres", "meters", "fuß", "fuss", "pies", "pés", "pieds"],
    words: [
      "flat", "ankle high", "knee high", "thigh high", "waist high", "chest high", "shoulder high", "head high",
      "overhead",
      "hüfthoch", "kniehoch", "brusthoch", "schulterhoch", "kopfhoch", "überkopf", "mannshoch", "flach", "spiegelglatt",
      "plano", "rodilla", "cintura", "pecho", "cabeza", "joelho", "peito", "cabeça", "genou", "taille", "poitrine",
      "tête",
    ],
    rules: [textLength])

  private static let period = Attribute(
    "period", .text,
    labels: [
      "swell period", "wave period", "peak period", "interval", "seconds", "Periode", "Wellenperiode", "Schwellperiode",
      "Intervall", "Período", "Periodo", "Período de ola", "Periodo de ola", "Intervalo", "Período da onda", "Période",
      "Période de houle", "Intervalle", "tp",
    ],
    units: ["s", "sec", "secs", "seconds", "sek", "sekunden", "seg", "segundos", "secondes"], rules: [textLength])

  private static let wind = Attribute(
    "wind", .text,
    labels: [
      "winds", "wind conditions", "Windverhältnisse", "Viento", "Vientos", "Vento", "Ventos", "Vent", "Vents",
    ],
    units: ["kn", "kt", "kts", "knots", "mph", "km/h", "kmh", "bft", "m/s", "knoten", "nudos", "nós", "nœuds"],
    words: [
      "offshore", "onshore", "cross-shore", "crossshore", "sideshore", "glassy", "glass", "ablandig", "auflandig",
      "windstill", "terral", "maral", "lateral", "side-shore", "terre", "mer",
    ],
    rules: [textLength])

  private static let location = Attribute(
    "location", .text,
    labels: [
      "spot", "surf spot", "break", "place", "beach", "where", "site", "spot name", "beach name",
      "Ort", "Strand", "Surfspot", "Platz", "Wo", "Standort", "Lugar", "Playa", "Ubicación", "Dónde", "Sitio",
      "Local", "Praia", "Pico", "Localização", "Onde", "Lieu", "Plage", "Endroit", "Où",
    ],
    rules: [textLength], isPartOfKey: true)

  private static let rating = Attribute(
    "rating", .whole,
    labels: [
      "stars", "score", "grade", "rate", "quality", "Bewertung", "Note", "Sterne", "Punkte", "Qualität", "Valoración",
      "Puntuación", "Nota", "Calificación", "Estrellas", "Avaliação", "Pontuação", "Classificação", "Estrelas",
      "Évaluation", "Étoiles", "Appréciation",
    ],
    range: 1...5, rules: [#"{ "rule": "range", "min": 1, "max": 5 }"#])

  private static let timeLabels = [
    "time", "time of day", "hour", "start time", "clock", "Uhrzeit", "Zeit", "Beginn", "Startzeit", "Hora",
    "Hora de inicio",
    "Horário", "Hora de início", "Heure", "Heure de début", "Horaire",
  ]

  private static let otherLabels = [
    "remark", "remarks", "comment", "comments", "notes", "description", "board", "duration", "tide", "temperature",
    "water",
    "Bemerkung", "Bemerkungen", "Kommentar", "Notiz", "Notizen", "Brett", "Dauer", "Tide", "Gezeiten",
    "Wassertemperatur",
    "Temperatur", "Comentario", "Comentarios", "Notas", "Observaciones", "Tabla", "Duración", "Marea", "Comentário",
    "Comentários", "Observações", "Prancha", "Duração", "Maré", "Commentaire", "Commentaires", "Remarque", "Remarques",
    "Planche", "Durée", "Marée", "id", "nr", "no", "number", "user", "who", "wer",
  ]

  private static let dayFirstLabels = [
    "Datum", "Uhrzeit", "Ort", "Wellenhöhe", "Bewertung", "Bemerkung", "Periode", "Strand", "Höhe", "Sterne",
    "Fecha", "Lugar", "Playa", "Altura", "Altura de ola", "Viento", "Valoración", "Puntuación", "Hora", "Olas",
    "Data", "Local", "Praia", "Altura da onda", "Vento", "Avaliação", "Ondas", "Período", "Lieu", "Plage", "Hauteur",
    "Vent", "Heure", "Vagues", "Période", "Houle",
  ]
}
