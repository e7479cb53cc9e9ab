BBBB BBBB BBBBBB
XXX XXXXXXXXXXXXXX
    XXXXXXXXXXXX
    XXXXXXXXXXXXXXXXXXXXX
    XXXXXXX
  XXX XXXXXXXXXXXXX XXXXXXXFFFXXXXX
  XXX XXXXXXXXXXX XXXXXXXXXX
    XXXXXXX XXXXXXXX XX
    XXXXXXXXXXXXX
  XXXXX
  XXX XXXXXXXXXX XXXX XXXXX XXXXXX XXXXXXXXXXX
XXXXX
XXX XXXXXXXXXXXXXX XXXXXXX
  XXX XXXXXXXXXXXX
    XXXX XXXXXXXXXXXXXX
      BB BBBBBBBB
        XXXX XXXXXXXXXXXXX
          XXXXXXXXXXXXX
          XXXXXX pgettext(u'value', u'before') XXXXXXX
          XXXXXX pgettext(u'value', u'after') XXXXXXX
          BBB BBBB BB BBBBBBBB
            XXXXXXXXXXXXX
            XXXXX
              BB BBBBBBBBBBB BB BBBB
                XXXXXXXXXXX
              BBBB
                XXXXXXXXXXXXXX
              BBBBB
            XXXXXX
            XXXXX
              BB BBBBBBBBBB BB BBBB
                XXXXXXXXXXX
              BBBB
                XXXXXXXXXXXXXX
              BBBBB
            XXXXXX
          BBBBBB
        XXXXXX
      BBBBB
      XXX XXXXXXXXXXXXXX
        BBB B BB BBBBBBBBBBB
          XXXXXXXXX
          XXXX
            
          XXXXX
        BBBBBB
        XXXX pgettext(u'name of a value', u'event') XXXXX
        XXXX
          XX XXXXXXXXXXXX XXXXXXXXXXXXXXXXXX
        XXXXX
        XXXX pgettext(u'name of a value', u'time') XXXXX
        XXXX
          FFFFFFFFFFF FFFFFF XXX
        XXXXX
        BB BBBBBBBBB
          XXXX pgettext(u'name of a value', u'who') XXXXX
          XXXX
            XX XXXXXXXXXXXXXFFFFFFFFFFFFXXXXXX
          XXXXX
        BBBBB
        BB BBBBBBB
          XXXX pgettext(u'compare', u'with') XXXXX
          XXX XXXXXXXXXXXXX
            
          XXXXX
        BBBBB
        BB BBBBBBBBBBB
          XXXX pgettext(u'name of a value, origin', u'from') XXXXX
          XXXX
            XX XXXXXXXXXXXX XXXXXXXXXXXXXXXFFFFFFFFFFFFXXXXXX
          XXXXX
        BBBBB
        BB BBBBBBBBBBBBBB
          XXXX pgettext(u'name of a value', u'about') XXXXX
          XXXX
            XX XXXXXXXXXXXX XXXXXXXXXXXXXXXXX XXXX
          XXXXX
        BBBBB
        BB BBBBBBBBBBBBBB
          XXXX pgettext(u'name of a value', u'request') XXXXX
          XXXX
            XX XXXXXXXXXXXX XXXXXXXXXXXXXXXFFFFFFFFFFFFXXXXXX
          XXXXX
        BBBBB
        XXXX pgettext(u'name of a value', u'chain') XXXXX
        XXX XXXXXXXXXXXXX
          BB BBBBBBB
            X FFFFFFFFFFFX
          BBBB
             pgettext(u'value', u'not sealed yet') 
          BBBBB
        XXXXX
      XXXXX
    XXXXXX
  XXXXX
XXXXX
