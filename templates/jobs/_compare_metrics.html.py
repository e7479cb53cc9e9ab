BBBB BBBB BBBBBB
 #

XXXXXXXX XXXXXXX pgettext(u'heading', u'Metrics') X
         XXXXXXXFFFFFFX
         XXXXXXXXXXXX
  BB BBBBBBB
    XXXX XXXXXXXXXXXXXXXXXX XXXXXXXXXXXXX
      XXXXXX XXXXXXXXXXX XXXXXX XXXXXXXXXXXXXXXX
        XXXXXXX
          XXXX
            XXXX pgettext(u'column', u'Last value') XXXXX
            BBB BBB BB BBBB
              XXX XXXXXXXXXXXX
                XX XXXXXXXXXXXXX XXXXXXX
                
              XXXXX
            BBBBBB
          XXXXX
        XXXXXXXX
        XXXXXXX
          BBB BBB BB BBBBBBBBBBB
            XXXX
              XXX XXXXXXXXXXXX XXXXXXXXXXX XXXXXXXXXXXXXX
              BBB BBBB BB BBBBBBBBB
                XXX XXXXXXXXXXXX
                  BB BBBBBBBBBBB
                    FFFFFFFFFFFFFFFFFFFFFFFFF
                    XXXX XXXXXXXXXXXX BB BBBBBBBBBBBBXXXXBBBBXXXXXBBBBBXX
                       pgettext(u'value', u'best %(value)s') 
                        SSSS SSSSSSSSS
                      
                    XXXXXX
                  BBBB
                    XXXXX XXXXXXXXXXXXXXXXXXXXXX
                  BBBBB
                XXXXX
              BBBBBB
            XXXXX
          BBBBBB
        XXXXXXXX
      XXXXXXXX
    XXXXXX
  BBBB
    XX XXXXXXXXXXX XXXXXXXXXXX
  BBBBB
XXXXXXXXXX
