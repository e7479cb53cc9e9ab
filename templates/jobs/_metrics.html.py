BBBB BBBB
 #
 #

BBB BBBBB BBBB BB BBBBBBBBBBBBBBBBBBBBB
  XXXX XXXXXXXXXXX XXXXXX
    BB BBBBBBBB
       gettext(u'The TensorBoard file %(file)s is not read any further: %(why)s') 
        SSS SSSSSSSSSSS SSSS SSSSSSSS SS SSS SSSS SSS SSSSSSSS SSSSSSS
      
    BBBB
       gettext(u'The TensorBoard file %(file)s is damaged: %(n)s bytes were skipped, the first at byte %(at)s. The curves have everything else.') 
        SSS SSSSSSSSSSS SSSS SSSSSSSS SS SSSSSSSS SSSSS SSSSS SSSS SSSSSSSS SSS SSSSS SS SSSS SSSSSSS SSS
        SSSSSS SSSS SSSSSSSSSS SSSSS
      
    BBBBB
  XXXXXX
BBBBBB
XXXXXXXXX XXXXXXXXXXXXXXXXXXXXXXXX
          XXXXXXXXXX
          XXXXXXXXXXXXXXXXXXXX
          XXXXXXXXXXXXXXXXXX
          XXXXXXXXXXXXXXXXXXX
  XXXXXXXX XXXXXXX pgettext(u'empty list', u'No curves yet') X
           XXXXXXXXXXXXXXX XXXXXXX XXXXXXXXXXXXXXXXXX XXXXXXXXXXXX
     gettext(u'Curves appear here as soon as the program reports its first metric, in one line of Python.') 
  XXXXXXXXXX
  XXXXXXX XXXXXXXXXXXXXX
    XX XXXXXXXXXXXX XXXXXXX
       gettext(u"No measurements of GPUs, CPU and memory. The node's agent sends them while the job runs.") 
    XXXX
  XXXXXXXXX
XXXXXXXXXXX
