BBBBBBB BBBBBBBBBBB
BBBB BBBBBB BBBB BBBBBB
 #

BBBBB BBBBBXXXXXXXXXXXXBBBBBBBB
BBBBB BBBB
  XXXXX XXXXXXXXXXXXXXXX XXXXXXBBBBBB BBBBBBBBBBBBBBBBBBXX
  XXXXX XXXXXXXXXXXXXXXX XXXXXXBBBBBB BBBBBBBBBBBBBBBBXX
  XXXXX XXXXXXXXXXXXXXXX XXXXXXBBBBBB BBBBBBBBBBBBBBBBBBBBBXX
BBBBBBBB
BBBBB BBBBBBB
  XXXXXXX XXXXXXX pgettext(u'page title', u'Compare runs') X XX
  BB BBBBB
    XXXXXXX XXXXXXXXXXX
      XXXFFFFFFFFFFXXXX
    XXXXXXXXX
  BBBBB
  BB BBB BBBBBBBBB
    XXXXXXXX XXXXXXX gettext(u'Choose 2 to 10 runs') XX
       gettext(u'Select runs in the table of an experiment and choose Compare, or add their IDs below.') 
      XXXXXXX XXXXXXXXXXXXXXX
        XX XXXXXXXXXX XXXXXXXX
           XXXXXXXXXXXXXXXXXXBB BBBBBBBBBBXBBBBBXX pgettext(u'button', u'Select runs') XXXX
      XXXXXXXXX
    XXXXXXXXXX
  BBBBB
  XXXX XXXXXXXXXXXXXX XXXXXXXX XXXXXXXXXXXXX
    XXXX XXXXXXXXXXXXXXXXXXX XXXXXXXBB BBBBBBBBBBB B B XXXXXXXBBBBBXX
       pgettext(u'heading, training runs', u'Runs') 
       pgettext(u'column, training run', u'Run') 
       pgettext(u'example', u'Run ID') 
       gettext(u'IDs of runs to add') 
      BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBB
      BB BBBBBBBBB
        BB BBBBBB BB BBB BBBB
          BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBB
        BBBB
           gettext(u'These runs have the same configuration.') 
          BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB
        BBBBB
         gettext(u'These runs have logged no metrics.') 
        BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBBBB
        XXXXXXXX XXXXXXX pgettext(u'heading', u'Files') X
                 XXXXXXXFFFFFFX
                 XXXXXXXXXXXX
          BB BBBBB
            XXXX XXXXXXXXXXXXXXXXX XXXXXXXXXXXXXXX
              XXXXXX XXXXXXXXXXX XXXXXX XXXXXXXXXXXXXXXX
                XXXXXXX
                  XXXX
                    XXXX pgettext(u'column', u'Path') XXXXX
                    BBB BBB BB BBBB
                      XXX XXXXXXXXXXXX
                        XX XXXXXXXXXXXXX XXXXXXX
                      XXXXX
                    BBBBBB
                    XXXXXXXXX
                  XXXXX
                XXXXXXXX
                XXXXXXX
                  BBB BBB BB BBBBB
                    XXX BB BBBBBBBB BB BBBBXXXXXXXXXXXXXXXXXXXBBBBBX
                      XXX XXXXXXXXXXXX XXXXXXXXXXXX
                        XX XXXXXXBBBBB BBBBBBBB BBBBBBBBBBB BBBBBBBBBBBBBXXXXXXXXXXXX
                      XXXXX
                      BBB BBBB BB BBBBBBBBB
                        XXX XXXXXXXXXXXX
                          BB BBBB BB BBBB
                            XXXXX XXXXXXXXXXXXXXXXXXXXXX
                          BBBB
                            FFFF
                          BBBBB
                        XXXXX
                      BBBBBB
                      XXX XXXXXXXXXXXX XXXXXXX
                        BB BBBBBBBBBBB
                           pgettext(u'value', u'same') 
                        BBBBB
                      XXXXX
                    XXXXX
                  BBBBBB
                XXXXXXXX
              XXXXXXXX
            XXXXXX
          BBBB
            XX XXXXXXXXXXX XXXXX XXXXXXX gettext(u'These runs have no files.') XXXX
          BBBBB
        XXXXXXXXXX
      BBBBB
    XXXXXX
    XXXX XXXXXXXXXXXXXXXXXXX XXXXXXX
      BB BBBB
        XXXXXXXXX XXXXXXXXXXXXXXXXXXXXXXXX XXXXXXXXXXXXX XXXXXXXXXXXXXXXXXXXXXXXXXXXX
          XX XXXXXXXXXXXXXX gettext(u'These runs have logged no curves.') XXXX
        XXXXXXXXXXX
      BBBBB
    XXXXXX
  XXXXXX
  BB BBBBBBBB
    XXXXXXXX XXXXXXXXXXXXXXXXXXXX XXXXXXXXXX XXXXXXXXXXXXXX
      BBB BBB BB BBBBBBBB
        XXXXXXXX XXXXXXXX XXXXXXXXXXXXXXXX
          XXXXXXX XXXXXXXXXXXXXXX
            XX XXXXXXXXXXXXX XXXXXXX
          XXXXXXXXX
          BB BBBBBBBBBBB
            BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBBB BBBB BBBBBBBBBBBBBBBBBBB BBBBBBBBBBBBBBBBB
          BBBB
            XX XXXXXXXXXXXX XXXXXXX gettext(u"This run doesn't have the file.") XXXX
          BBBBB
        XXXXXXXXXX
      BBBBBB
    XXXXXXXXXX
  BBBBB
  BB BBBBBBBBB BBB BBBBBBBBB
    BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBB BBBB BBBBBBBBBBBBBBBBBBB BBBBBBBBBBBBBBBBBBB
  BBBBB
BBBBBBBB
BBBBB BBBBBBB
  XXXXXXX XXXXXXXXXXXXX XXXXXBBBBBB BBBBBBBBBBBBBBXXXXXXXXXXX
  XXXXXXX XXXXXXXXXXXXX XXXXXBBBBBB BBBBBBBBBBBBBBBXXXXXXXXXXX
BBBBBBBB
