BBBB BBBB BBBBBB
 #

XXXX XXXXXXXXXXXX XXXX XXXXXXXXXXXXXX
  XXXX XXXXXXXXXXXXXX
    BB BBBB
      XXXX XXXXXXXXXXXX XXXXXXXXXX XXXXXXXXXXXXXXXXX
        BBB BBB BB BBBB
          XXXX XXXXXXXXXXXXX
            XXXXX XXXXXXXXXXXXXXXXX XXXXX XXXXXXXXXXXXXXXX
            XXXXXXX XXXXXXXXXXXXXXXXXX XXXXXXXXXXXXXXXFFFFFFXXXXXXXXX
          XXXXXX
        BBBBBB
      XXXXXX
    BBBBB
    BB BBBBBBB
      XXXXXXXX XXXXXXX pgettext(u'heading', u'Curves') X
               XXXXXXXXXXXXXXXXXX
               XXXXXX pgettext(u'link', u'All charts') XX
        XXXXXXXX XXXXXXXXXXXXXXXXXXXXXXXX
                 XXXXXXXXXXXXXXXXXXXX
                 XXXXXXXXXX
                 XXXXXXXXXXXXXXXXXXXX
                 XXXXXXXXXXXXXXXXXXXXXXXXXXX XX
      XXXXXXXXXX
    BBBBB
    XXXXXXXX XXXXXXX pgettext(u'heading, remark', u'Note') X
             XXXXXXXXXXXXXXXXX
      XXXXXXX XXXXXXXXXXXXXXX
        BB BBBBBBBBB
          XXXXXXX XXXXXXXXXX XXXXX XXXXXX
                  XXXXXXXXXXXXX
                  XXXXXXXXXXXXXXXXXXXXXXXXXXXXXX pgettext(u'button', u'Edit') XXXXXXXXX
        BBBBB
      XXXXXXXXX
      BB BBBB
        XX XXXXXXXXXXXXXXXXXX
      BBBB
        XX XXXXXXXXXXXX XXXXXXX gettext(u'What did you try, and what did you learn?') XXXX
      BBBBB
    XXXXXXXXXX
    XXXX XXXXXXXXXXXX XXXXXXXXXXXX
      XXXXXXXX XXXXXXX pgettext(u'heading', u'Parameters') X
               XXXXXXXFFFFFFX
               XXXXXXXXXX
        BB BBBBBB
          XXXX XXXXXXXXXXXXXXXXXXX
            XXXXXX XXXXXXXXXXX XXXXXXX
              XXXXXXX
                BBB BBBBB BBBBB BB BBBBBB
                  XXXX
                    XXX XXXXXXXXXXXX XXXXXXXXXXXXXXXXX
                    XXX XXXXXXXXXXX XXXXXXXXXXXX
                  XXXXX
                BBBBBB
              XXXXXXXX
            XXXXXXXX
          XXXXXX
        BBBB
          XX XXXXXXXXXXX XXXXX XXXXXXX gettext(u'The run has logged no parameters.') XXXX
        BBBBB
      XXXXXXXXXX
      XXXXXXXX XXXXXXX pgettext(u'heading', u'Metrics') X
               XXXXXXXFFFFFFX
               XXXXXXXXXX
        XXXX XXXXXXXXXXXXXXXXXXXX
          BB BBBBBBB
            XXXX XXXXXXXXXXXXXXXXXXX
              XXXXXX XXXXXXXXXXX XXXXXXX
                XXXXXXX
                  BBB BBB BB BBBBBBB
                    XXXX
                      XXX XXXXXXXXXXXX XXXXXXXXXXXXXXXXX
                      XXX XXXXXXXXXXX XXXXXXXXXXXXXX XXXXXXXXXFFFFFFXXXXX
                      XXX XXXXXXXXXX XXXXX XXXXXXXX
                        BB BBBBBBBB BB BBB BBBB
                           pgettext(u'value', u'step %(n)s') 
                            SSSS SSSSS
                          
                        BBBBB
                      XXXXX
                    XXXXX
                  BBBBBB
                XXXXXXXX
              XXXXXXXX
            XXXXXX
          BBBB
            XX XXXXXXXXXXX XXXXX XXXXXXX gettext(u'The run has logged no metrics.') XXXX
          BBBBB
        XXXXXX
      XXXXXXXXXX
    XXXXXX
  XXXXXX
  XXXX XXXXXXXXXXXXXX
    BB BBB BB BBBBBB BB BBBBBBBB BB BBBBBB BB BBBBBBBB
      XXXXXXXX XXXXXXX pgettext(u'heading', u'Lineage') XX
        BB BBB
          XXXXX
            XXX XXXXXXXXXXXXXXXXXXXXXX pgettext(u'heading', u'Job') XXXXX
            XXX XXXXXXXXXXXXXXXX
              XXXX
                XX XXXXXXXXXXXXXXX XXXX
              XXXXX
            XXXXX
          XXXXXX
        BBBBB
         pgettext(u'field', u'Nested in') 
         pgettext(u'field', u'Nested runs') 
        BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBBB BBBB BBBBBBBBBBBBBBBBBB BBBBBBBBBBBBBB
        BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBBB BBBB BBBBBBBBBBBBBBBBBBBB BBBBBBBBBBBBBBBB
        BB BBBBBB
          XXXXX
            XXX XXXXXXXXXXXXXXXXXXXXXX pgettext(u'heading', u'Logged models') XXXXX
            XXX XXXXXXXXXXXXXXXX
              BBB BBB BB BBBBBB
                XXXX
                  XXXXX XXXXXXXXXXXXXXXXXXXX
                  XXXXX XXXXXXXXXXXX XXXXXXXXXXXXXX
                XXXXX
              BBBBBB
            XXXXX
          XXXXXX
        BBBBB
        BB BBBBBBBB
          XXXXX
            XXX XXXXXXXXXXXXXXXXXXXXXX pgettext(u'heading', u'Registered models') XXXXX
            XXX XXXXXXXXXXXXXXXX
              BBB BBB BB BBBBBBBB
                XXXX
                  XX XXXXXXXXXXXX XXXXXXXXXXXX
                  XXXXX XXXXXXXXXXXX XXXXXXXXXXXXXXX
                XXXXX
              BBBBBB
            XXXXX
          XXXXXX
        BBBBB
      XXXXXXXXXX
    BBBBB
    BB BBBBBB
      XXXXXXXX XXXXXXX pgettext(u'heading', u'Data') X
               XXXXXXXFFFFFFXX
        XXX XXXXXXXXXXXXXX
          BBB BBB BB BBBBBB
            XXXXFFFFFFFFFFFFFFFFXXXXX
            XXXX
              BB BBBBBBBB
                XX XXXXXXXXXXXX
              BBBB
                
              BBBBB
              BB BBBBBBBBBBXXXXX XXXXXXXXXXXX XXXXXXXXXXXXXBBBBB
              BB BBBBBBBBBB BBB BBB BBBBBBBBXXXX XXXXXXXXXXXX XXXXX XXXXXXXXXXXXXBBBBB
            XXXXX
          BBBBBB
        XXXXX
      XXXXXXXXXX
    BBBBB
    XXXXXXXX XXXXXXX pgettext(u'heading', u'Environment') XX
      XXX XXXXXXXXXXXXXX
        BBB BBBBBB BBBBB BB BBBBBBBBBBB
          XXXXFFFFFFFFFFXXXXX
          XXX XXXXXXXXXXXXXX
            
          XXXXX
        BBBBBB
        XXXX pgettext(u'name of a value', u'Started') XXXXX
        XXXX
          FFF
        XXXXX
        BB BBBB
          XXXX pgettext(u'name of a value', u'Cost') XXXXX
          XXXX
            
          XXXXX
        BBBBB
        XXXX pgettext(u'name of a value', u'Run ID') XXXXX
        XXX XXXXXXXXXXXXXXX
          XXXXX XXXXXXXXXXXXXXXXXXXXX
          XXXXXXX XXXXXXXXXX XXXXX XXXXXX
                  XXXXXXXXXXXXX
                  XXXXXXXXXXXXXXXXXX
                  XXXXXXXXXXXXX
            XXXXXX pgettext(u'button', u'Copy') XXXXXXX
          XXXXXXXXX
        XXXXX
      XXXXX
    XXXXXXXXXX
    XXXXXXXX XXXXXXX pgettext(u'heading', u'Tags') X
             XXXXXXXFFFFFFXX
      BB BBBB
        XXX XXXXXXXXXXXXX
          BBB BBBBB BBBBB BB BBBB
            XXX XXXXXXXXXXXXX
              BB BBBBBX BBBBB
              BB BBBBBBBBB
                XXXXX XXXXXXXXXXXXX XXXXXXXXXXXXXX
                  BBBBBBBBBB
                  XXXXXX XXXXXXXXXXXXX XXXXXXXXXX XXXXXXXXX
                  XXXXXXX XXXXXXXXXXX
                          XXXXXXXXXXXXX
                          XXXXXXXXXXXX pgettext(u'spoken label', u'Remove the tag %(n)s') SSSSSS SSS SSS SSSSSXXXXXXXXXXXX
                XXXXXXX
              BBBBB
            XXXXX
          BBBBBB
        XXXXX
      BBBBB
      BB BBBBBBBBB
        XXXXX XXXXXXXXXX XXXXX XXXXXXXXX XXXXXXXXXXXXX XXXXXXXXXXXXXX
          BBBBBBBBBB
          XXXXXX XXXXXXXXXXX
                 XXXXXXXXXX
                 XXXXXXXXXXXXXXX
                 XXXXXXXX
                 XXXXXXXXXXXXX pgettext(u'placeholder', u'Name') X
                 XXXXXXXXXXXX pgettext(u'spoken label', u'Name of the tag') XX
          XXXXXX XXXXXXXXXXX
                 XXXXXXXXXXXX
                 XXXXXXXXXXXXXXXX
                 XXXXXXXXXXXXX pgettext(u'placeholder', u'Value') X
                 XXXXXXXXXXXX gettext(u'Value of the tag') XX
          XXXXXXX XXXXXXXXXX XXXXXX XXXXXXXXXXX XXXXXXXXXXXX pgettext(u'button', u'Add') XXXXXXXXX
        XXXXXXX
      BBBB BBB BBBB
        XX XXXXXXXXXXXX XXXXXXX gettext(u'No tags.') XXXX
      BBBBB
      BB BBBBBBBB
        XXXXXXXXX
          XXXXXXXX XXXXXXXXXXXX XXXXXXX
             npgettext(u'number of things', u'%(n)s system tag', u'%(n)s system tags',count) 
              SSSSS SSSSSS SSS
            
              PPPPP PPPPPP PPPP
            
          XXXXXXXXXX
          XXX XXXXXXXXXXXX XXXXXXX
            BBB BBBBB BBBBB BB BBBBBBBB
              XXX XXXXXXXXXXXXXXXXXXX
              XXX XXXXXXXXXXXXXX
                FFFFFFFFFFFFFFFFF
              XXXXX
            BBBBBB
          XXXXX
        XXXXXXXXXX
      BBBBB
    XXXXXXXXXX
  XXXXXX
XXXXXX
BB BBBBBBBBB
  XXXXXXXXX XXXXXXXXXXXXXX
            XXXXXXX pgettext(u'title of a dialog, remark', u'Note') XX
    XXXXX XXXXXXXXXXXXXXX XXXXXXXXXXXXX XXXXXXXXXXXXXX
      BBBBBBBBBB
      XXXXXX XXXXXXXXXXXXX XXXXXXXXXX XXXXXXXFFFFXX
      XXXXXXXXX XXXXXXXXXXX
                XXXXXXXX
                XXXXXXXXXXXXXXXX
                XXXXXXXXXXXX pgettext(u'spoken label, remark', u'Note') X
                XXXXXXXXXXXXX gettext(u'What did you try, and what did you learn?') XXXXXXXXXXXXX
      XXXX XXXXXXXXXX XXXXX
        XXXXXXX XXXXXXXXXXX XXXXXXXXXXXXX XXXXXXXXXXXXXXXXXXXXXXXXXXX pgettext(u'button', u'Cancel') XXXXXXXXX
        XXXXXXX XXXXXXXXXX XXXXXXXX XXXXXXXXXXX XXXXXXXXXXXXX pgettext(u'button', u'Save') XXXXXXXXX
      XXXXXX
    XXXXXXX
  XXXXXXXXXXX
BBBBB
